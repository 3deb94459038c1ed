"""What we do, a verb a file: accept, deliver, receive, fall back, cancel, keep house, …"""
