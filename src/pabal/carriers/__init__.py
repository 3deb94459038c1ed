"""Who carries a message: one small file for each kind of carrier, behind one narrow seam."""
