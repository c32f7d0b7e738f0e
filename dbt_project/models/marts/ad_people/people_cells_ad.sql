{{ people_cells(of_ads=true) }}
