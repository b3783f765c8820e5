"""Reading documents, objects and jobs; every read starts from what the one who asks may see."""
