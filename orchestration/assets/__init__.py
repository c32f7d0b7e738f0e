"""The assets, one module per landing, then the raw sets, the warehouse and the publication."""

import warnings

# single-run backfills are in beta; what they do for us is covered by our own tests
warnings.filterwarnings("ignore", message=".*backfill_policy.*is currently in beta")
