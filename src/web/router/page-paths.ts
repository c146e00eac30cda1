/**
 * The address of every page, parameters as `:name`. The build reads it too: it imports nothing,
 * since messages need the build.
 */
export const pagePaths = {
  overview: '/',
  checkout: '/pay',
  /** A seller's link: its terms are in it, signed. */
  payLink: '/pay/:link',
  links: '/links',
  files: '/files',
  /** The page of one file, for who buys it. */
  file: '/file/:code',
  products: '/products',
  invoices: '/invoices',
  invoice: '/invoices/:invoiceId',
  payments: '/payments',
  payment: '/payments/:paymentId',
  refund: '/refund/:paymentId',
  customers: '/customers',
  customer: '/customers/:walletAddress',
  balances: '/balances',
  developers: '/developers',
  verify: '/verify',
  explore: '/explore',
  people: '/people',
  /** The code of the invitation follows `#`, which no server is sent. */
  join: '/join',
  settings: '/settings',
} as const
