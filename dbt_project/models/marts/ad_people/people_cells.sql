{{ people_cells(of_ads=false) }}
