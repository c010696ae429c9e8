"""What several pages draw with, and what reads for them; nothing here knows a page."""
