"""What several pages share: what they draw with, and reads of the store. Nothing here knows a page."""
