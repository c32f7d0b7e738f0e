"""Attribution beyond campaigns: the people behind ads, and the settings credit is made under."""
