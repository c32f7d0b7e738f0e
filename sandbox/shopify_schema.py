"""The part of Shopify's Admin GraphQL schema (2026-10) that the sandbox answers."""

from graphql import build_schema

SCHEMA = build_schema("""
scalar DateTime
scalar Decimal
scalar Money
scalar URL
scalar UnsignedInt64

type Query {
  shop: Shop!
  order(id: ID!): Order
  product(id: ID!): Product
  orders(first: Int, after: String, last: Int, before: String, query: String, reverse: Boolean = false,
    sortKey: OrderSortKeys = PROCESSED_AT): OrderConnection!
  products(first: Int, after: String, last: Int, before: String, query: String, reverse: Boolean = false,
    sortKey: ProductSortKeys = ID): ProductConnection!
}

enum OrderSortKeys { CREATED_AT ID PROCESSED_AT UPDATED_AT }
enum ProductSortKeys { CREATED_AT ID UPDATED_AT }
enum ProductStatus { ACTIVE ARCHIVED DRAFT UNLISTED }
enum ProductVariantInventoryPolicy { CONTINUE DENY }
enum OrderTransactionKind { AUTHORIZATION CAPTURE REFUND SALE VOID }
enum OrderTransactionStatus { ERROR FAILURE PENDING SUCCESS }
enum OrderDisplayFinancialStatus {
  AUTHORIZED EXPIRED PAID PARTIALLY_PAID PARTIALLY_REFUNDED PENDING REFUNDED VOIDED
}
enum OrderDisplayFulfillmentStatus {
  FULFILLED IN_PROGRESS ON_HOLD OPEN PARTIALLY_FULFILLED PENDING_FULFILLMENT RESTOCKED SCHEDULED UNFULFILLED
}

type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
type Shop { id: ID! name: String! myshopifyDomain: String! currencyCode: String! ianaTimezone: String! }
type MoneyV2 { amount: Decimal! currencyCode: String! }
type MoneyBag { shopMoney: MoneyV2! presentmentMoney: MoneyV2! }
type Attribute { key: String! value: String }
type SelectedOption { name: String! value: String! }
type Image { url: URL! }
type MediaPreviewImage { image: Image }
type Media { preview: MediaPreviewImage }
type InventoryItem { id: ID! tracked: Boolean! }

type ProductConnection { edges: [ProductEdge!]! nodes: [Product!]! pageInfo: PageInfo! }
type ProductEdge { cursor: String! node: Product! }
type Product {
  id: ID! legacyResourceId: UnsignedInt64! title: String! handle: String! status: ProductStatus! vendor: String!
  productType: String! tags: [String!]! createdAt: DateTime! updatedAt: DateTime! onlineStoreUrl: URL
  featuredMedia: Media
  variants(first: Int, after: String, last: Int, before: String): ProductVariantConnection!
}

type ProductVariantConnection { edges: [ProductVariantEdge!]! nodes: [ProductVariant!]! pageInfo: PageInfo! }
type ProductVariantEdge { cursor: String! node: ProductVariant! }
type ProductVariant {
  id: ID! legacyResourceId: UnsignedInt64! title: String! sku: String barcode: String position: Int! price: Money!
  compareAtPrice: Money inventoryQuantity: Int inventoryPolicy: ProductVariantInventoryPolicy!
  inventoryItem: InventoryItem! selectedOptions: [SelectedOption!]! createdAt: DateTime! updatedAt: DateTime!
}

type CustomerEmailAddress { emailAddress: String! }
type CustomerPhoneNumber { phoneNumber: String! }
type Customer {
  id: ID! legacyResourceId: UnsignedInt64! firstName: String lastName: String email: String phone: String
  defaultEmailAddress: CustomerEmailAddress defaultPhoneNumber: CustomerPhoneNumber
}

type OrderConnection { edges: [OrderEdge!]! nodes: [Order!]! pageInfo: PageInfo! }
type OrderEdge { cursor: String! node: Order! }
type Order {
  id: ID! legacyResourceId: UnsignedInt64! name: String! test: Boolean! createdAt: DateTime! updatedAt: DateTime!
  processedAt: DateTime! cancelledAt: DateTime email: String phone: String currencyCode: String!
  presentmentCurrencyCode: String! displayFinancialStatus: OrderDisplayFinancialStatus
  displayFulfillmentStatus: OrderDisplayFulfillmentStatus! subtotalPriceSet: MoneyBag totalDiscountsSet: MoneyBag
  totalShippingPriceSet: MoneyBag! totalTaxSet: MoneyBag totalPriceSet: MoneyBag! totalRefundedSet: MoneyBag!
  edited: Boolean! totalReceivedSet: MoneyBag!
  paymentGatewayNames: [String!]! customAttributes: [Attribute!]! customer: Customer
  lineItems(first: Int, after: String, last: Int, before: String): LineItemConnection!
  transactions(first: Int): [OrderTransaction!]! fulfillments(first: Int): [Fulfillment!]!
}

type Fulfillment { id: ID! createdAt: DateTime! updatedAt: DateTime! }

type LineItemConnection { edges: [LineItemEdge!]! nodes: [LineItem!]! pageInfo: PageInfo! }
type LineItemEdge { cursor: String! node: LineItem! }
type LineItemReference { id: ID! legacyResourceId: UnsignedInt64! }
type LineItem {
  id: ID! title: String! name: String! quantity: Int! sku: String originalUnitPriceSet: MoneyBag!
  totalDiscountSet: MoneyBag! product: LineItemReference variant: LineItemReference
}

type OrderTransaction {
  id: ID! kind: OrderTransactionKind! status: OrderTransactionStatus! gateway: String authorizationCode: String
  createdAt: DateTime! processedAt: DateTime test: Boolean! amountSet: MoneyBag!
}
""")
