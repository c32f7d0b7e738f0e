"""The GraphQL documents sent to a Shopify store.

Page sizes keep one query under the 1,000 points that Shopify allows; what does not fit is read on.
"""

_MONEY = "{ shopMoney { amount currencyCode } }"
_LINE = f"""id title sku quantity originalUnitPriceSet {_MONEY} product {{ id }} variant {{ id }}"""
_LIVE_LINE = f"{_LINE} totalDiscountSet {_MONEY}"
_VARIANT = """id title sku barcode position price compareAtPrice inventoryQuantity inventoryPolicy updatedAt
          inventoryItem { tracked } selectedOptions { name value }"""


def _orders(line: str, more: str = "") -> str:
    return f"""query Orders($first: Int!, $after: String, $query: String) {{
  orders(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) {{
    edges {{
      cursor
      node {{
        id name test edited createdAt updatedAt processedAt cancelledAt email phone
        displayFinancialStatus displayFulfillmentStatus currencyCode
        subtotalPriceSet {_MONEY}
        totalDiscountsSet {_MONEY}
        totalShippingPriceSet {_MONEY}
        totalTaxSet {_MONEY}
        totalPriceSet {_MONEY}
        totalReceivedSet {_MONEY}
        totalRefundedSet {_MONEY}
        customAttributes {{ key value }}
        transactions(first: 10) {{ kind status gateway authorizationCode processedAt }}
        {more}
        lineItems(first: 5) {{
          edges {{ cursor node {{ {line} }} }}
          pageInfo {{ hasNextPage endCursor }}
        }}
      }}
    }}
    pageInfo {{ hasNextPage endCursor }}
  }}
}}"""


def _order_lines(line: str) -> str:
    return f"""query OrderLines($id: ID!, $first: Int!, $after: String) {{
  order(id: $id) {{
    lineItems(first: $first, after: $after) {{
      edges {{ cursor node {{ {line} }} }}
      pageInfo {{ hasNextPage endCursor }}
    }}
  }}
}}"""


ORDERS = _orders(_LINE)
ORDER_LINES = _order_lines(_LINE)
# what a look at one store costs more is not paid by every sync
LIVE_ORDERS = _orders(_LIVE_LINE, "fulfillments(first: 10) { updatedAt }")
LIVE_ORDER_LINES = _order_lines(_LIVE_LINE)
LIVE_ORDERS_PAGE = 15

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
