"""`gpu-profile mcp`: recordings as read-only tools of the Model Context Protocol."""
