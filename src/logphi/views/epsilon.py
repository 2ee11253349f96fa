"""stub"""
def epsilon(*a,**k): raise NotImplementedError
