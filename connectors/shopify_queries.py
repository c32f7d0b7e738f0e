"""The GraphQL documents sent to a Shopify store.

Page sizes keep one query under the 1,000 points that Shopify allows; what does not fit is read on.
"""

_MONEY = "{ shopMoney { amount currencyCode } }"
_LINE = f"""id title sku quantity originalUnitPriceSet {_MONEY} product {{ id }} variant {{ id }}"""
_VARIANT = """id title sku barcode position price compareAtPrice inventoryQuantity inventoryPolicy updatedAt
          inventoryItem { tracked } selectedOptions { name value }"""

ORDERS = f"""query Orders($first: Int!, $after: String, $query: String) {{
  orders(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) {{
    edges {{
      cursor
      node {{
        id name createdAt updatedAt processedAt cancelledAt email phone
        displayFinancialStatus displayFulfillmentStatus currencyCode
        subtotalPriceSet {_MONEY}
        totalDiscountsSet {_MONEY}
        totalShippingPriceSet {_MONEY}
        totalTaxSet {_MONEY}
        totalPriceSet {_MONEY}
        totalRefundedSet {_MONEY}
        customAttributes {{ key value }}
        transactions(first: 10) {{ kind status gateway authorizationCode }}
        lineItems(first: 5) {{
          edges {{ cursor node {{ {_LINE} }} }}
          pageInfo {{ hasNextPage endCursor }}
        }}
      }}
    }}
    pageInfo {{ hasNextPage endCursor }}
  }}
}}"""

ORDER_LINES = f"""query OrderLines($id: ID!, $first: Int!, $after: String) {{
  order(id: $id) {{
    lineItems(first: $first, after: $after) {{
      edges {{ cursor node {{ {_LINE} }} }}
      pageInfo {{ hasNextPage endCursor }}
    }}
  }}
}}"""

PRODUCTS = f"""query Products($first: Int!, $after: String, $query: String) {{
  shop {{ currencyCode }}
  products(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) {{
    edges {{
      cursor
      node {{
        id title handle status vendor productType tags createdAt updatedAt onlineStoreUrl
        featuredMedia {{ preview {{ image {{ url }} }} }}
        variants(first: 10) {{
          edges {{ cursor node {{ {_VARIANT} }} }}
          pageInfo {{ hasNextPage endCursor }}
        }}
      }}
    }}
    pageInfo {{ hasNextPage endCursor }}
  }}
}}"""

PRODUCT_VARIANTS = f"""query ProductVariants($id: ID!, $first: Int!, $after: String) {{
  product(id: $id) {{
    variants(first: $first, after: $after) {{
      edges {{ cursor node {{ {_VARIANT} }} }}
      pageInfo {{ hasNextPage endCursor }}
    }}
  }}
}}"""
