"""How a workspace looks in reports and mail, and the domain it sends under."""
