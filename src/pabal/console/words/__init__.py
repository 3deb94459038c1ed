"""What pages say, in Korean and in English."""
