"""What the scores suggest doing: the rules, the facts they judge, and the life of a recommendation."""
