import type { Class } from './tenant-matrix.ts'
import type { Presented } from './tenant-proofs.ts'
import { ORIGIN } from './tenant-proxy.ts'

/** Rows of the table of the proxy’s endpoints: what each kind of visitor gets. */

export type Cell = {
  request: (facts: Facts) => { path: string; body?: unknown }
  nobody: Class
  anonymous: Class
  stranger: Class
  /** Invited by an owner to read. */
  viewer: Class
  /** Whose it is, or who runs the shop (an owner); without it, they need more than a session. */
  operator?: Class
  /** Invited by an owner to act; as the owner where nothing is said. */
  invited?: Class
}
export type Facts = {
  stranger: string
  viewer: string
  paid: string
  /** Of it; nobody signed it. */
  refund: string
  hash: string
  open: string
  link: string
  linkId: string
  code: string
  fileId: string
  fileCode: string
  product: string
  draft: string
  invoice: string
  key: string
  webhook: string
  transferId: string
  refundRequest: { body: object; id: string }
  signIn: object
  proof: Presented
  spent: Presented
}

export const SIGN_IN = 'UNAUTHORIZED sign_in_required'
export const ANYBODY = {
  nobody: 'ALLOWED',
  anonymous: 'ALLOWED',
  stranger: 'ALLOWED',
  viewer: 'ALLOWED',
  operator: 'ALLOWED',
}
export const PARTIES = {
  nobody: SIGN_IN,
  anonymous: 'NOT_FOUND',
  stranger: 'NOT_FOUND',
  viewer: 'ALLOWED',
  operator: 'ALLOWED',
}
export const WALLETS = {
  nobody: SIGN_IN,
  anonymous: SIGN_IN,
  stranger: 'NOT_FOUND',
  viewer: 'ALLOWED',
  operator: 'ALLOWED',
}
export const OWN_WALLETS = { ...WALLETS, stranger: 'ALLOWED' }
export const PAYEE = {
  nobody: SIGN_IN,
  anonymous: SIGN_IN,
  stranger: 'FORBIDDEN payee_required',
  viewer: 'FORBIDDEN payee_required',
  operator: 'ALLOWED',
}
export const OPERATOR = {
  nobody: SIGN_IN,
  anonymous: SIGN_IN,
  stranger: 'FORBIDDEN operator_required',
  viewer: 'FORBIDDEN operator_required',
  operator: 'ALLOWED',
}
export const READER = { ...OPERATOR, stranger: 'FORBIDDEN viewer_required', viewer: 'ALLOWED' }
export const OWNER = {
  ...OPERATOR,
  stranger: 'FORBIDDEN owner_required',
  viewer: 'FORBIDDEN owner_required',
  invited: 'FORBIDDEN owner_required',
}
/** They sign or type something beside the session. */
export const CONFIRMED = { ...OPERATOR, operator: undefined }
export const OWNER_CONFIRMED = { ...OWNER, operator: undefined }

export const plain = (path: string) => ({ request: () => ({ path }) })
export const ofWebhook = (path: string, body?: object): Cell => ({
  ...OPERATOR,
  request: ({ webhook }) => ({
    path: `/webhooks/${webhook}${path}`,
    ...(body === undefined ? {} : { body }),
  }),
})
const INVITATION_OVER = 'FORBIDDEN invitation_over'
export const NOT_PAID = 'FORBIDDEN file_not_paid'
export const fileTerms = {
  name: 'Guide',
  prices: [{ currency: 'ETH', amount: '0.01' }],
  source: { kind: 'text', text: 'The first page.' },
  page: `${ORIGIN}/file`,
}
export const ofFile = (verb: string, body?: object): Cell => ({
  ...OPERATOR,
  request: ({ fileId }) => ({ path: `/files/${verb}`, body: { id: fileId, ...body } }),
})
export const PRODUCT = { name: 'Tea', price: { currency: 'ETH', amount: '0.01' } }
export const INVOICE = {
  dueOn: '2099-12-31',
  currency: 'ETH',
  lines: [{ name: 'Tea', quantity: '1', unitPrice: '0.01', taxPercent: null }],
}
export const ofInvoice = (path: string): Cell => ({
  ...OPERATOR,
  request: ({ invoice }) => ({ path: `/invoices${path}`, body: { id: invoice } }),
})

/** What a merchant has beside payments: products, invoices, customers, files, people. */
export const MERCHANT_CELLS: Record<string, readonly Cell[]> = {
  'GET /customers': [{ ...READER, ...plain('/customers') }],
  'GET /balances': [{ ...READER, ...plain('/balances') }],
  'GET /balances/alerts': [{ ...READER, ...plain('/balances/alerts') }],
  // Nobody here has a managed wallet.
  'POST /balances/alert': [
    {
      ...OPERATOR,
      operator: 'INVALID_PARAMETERS',
      request: ({ stranger }) => ({
        path: '/balances/alert',
        body: { walletAddress: stranger, network: 'eip155:31337', threshold: null },
      }),
    },
  ],
  'GET /products': [{ ...READER, ...plain('/products') }],
  'POST /products': [
    { ...OPERATOR, request: () => ({ path: '/products', body: { ...PRODUCT, name: 'theirs' } }) },
  ],
  'POST /products/update': [
    {
      ...OPERATOR,
      request: ({ product }) => ({ path: '/products/update', body: { id: product, ...PRODUCT } }),
    },
  ],
  'POST /products/archive': [
    {
      ...OPERATOR,
      request: ({ product }) => ({
        path: '/products/archive',
        body: { id: product, archived: false },
      }),
    },
  ],
  'POST /invoices/list': [{ ...READER, request: () => ({ path: '/invoices/list', body: {} }) }],
  'POST /invoices/read': [{ ...ofInvoice('/read'), ...READER }],
  'GET /invoices/customers': [{ ...OPERATOR, ...plain('/invoices/customers') }],
  'POST /invoices': [{ ...OPERATOR, request: () => ({ path: '/invoices', body: INVOICE }) }],
  'POST /invoices/delete': [
    { ...OPERATOR, request: ({ draft }) => ({ path: '/invoices/delete', body: { id: draft } }) },
  ],
  'POST /invoices/void': [ofInvoice('/void')],
  'POST /invoices/unvoid': [ofInvoice('/unvoid')],
  // It is issued already, or void.
  'POST /invoices/issue': [{ ...ofInvoice('/issue'), operator: 'INVALID_PARAMETERS' }],
  'POST /invoices/prefix': [
    { ...OPERATOR, request: () => ({ path: '/invoices/prefix', body: { prefix: 'X-' } }) },
  ],
  'POST /invoices/seller': [
    { ...OPERATOR, request: () => ({ path: '/invoices/seller', body: { name: 'Tea Ltd' } }) },
  ],
  'POST /invoices/forget-customer': [
    {
      ...OWNER,
      operator: 'NOT_FOUND',
      request: () => ({
        path: '/invoices/forget-customer',
        body: { id: `cus_${'1'.repeat(22)}` },
      }),
    },
  ],
  // For the holder of an id, which links show; this one belongs to none.
  'POST /images/read': [
    {
      ...ANYBODY,
      request: () => ({ path: '/images/read', body: { ids: [`img_${'1'.repeat(22)}`] } }),
    },
  ],
  'POST /customers/profiles/read': [
    {
      ...READER,
      request: ({ stranger }) => ({
        path: '/customers/profiles/read',
        body: { wallets: [stranger] },
      }),
    },
  ],
  'POST /customers/profiles/find': [
    { ...READER, request: () => ({ path: '/customers/profiles/find', body: { text: 'Ana' } }) },
  ],
  'POST /customers/profiles': [
    {
      ...OPERATOR,
      request: ({ stranger }) => ({
        path: '/customers/profiles',
        body: { walletAddress: stranger, name: 'theirs' },
      }),
    },
  ],
  'POST /customers/profiles/export': [
    {
      ...OPERATOR,
      request: ({ stranger }) => ({
        path: '/customers/profiles/export',
        body: { walletAddress: stranger },
      }),
    },
  ],
  'POST /customers/profiles/delete': [
    {
      ...OWNER,
      request: ({ stranger }) => ({
        path: '/customers/profiles/delete',
        body: { walletAddress: stranger },
      }),
    },
  ],
  'GET /files': [{ ...READER, ...plain('/files') }],
  'GET /files/failures': [{ ...READER, ...plain('/files/failures') }],
  'POST /files': [{ ...OPERATOR, request: () => ({ path: '/files', body: fileTerms }) }],
  'POST /files/check': [
    {
      ...OPERATOR,
      request: () => ({ path: '/files/check', body: { source: fileTerms.source } }),
    },
  ],
  'POST /files/update': [ofFile('update', { name: 'Theirs' })],
  'POST /files/withdraw': [ofFile('withdraw')],
  'POST /files/restore': [ofFile('restore')],
  'POST /files/delete': [{ ...ofFile('delete'), operator: 'FORBIDDEN file_sold_lately' }],
  'POST /files/open': [
    { ...ANYBODY, request: ({ fileCode }) => ({ path: '/files/open', body: { code: fileCode } }) },
  ],
  // A role buys nothing: the file is for who has paid.
  'POST /files/download': [
    {
      nobody: SIGN_IN,
      anonymous: NOT_PAID,
      stranger: NOT_PAID,
      viewer: NOT_PAID,
      operator: NOT_PAID,
      request: ({ fileCode }) => ({ path: '/files/download', body: { code: fileCode } }),
    },
  ],
  'GET /people': [{ ...OWNER, ...plain('/people') }],
  'POST /people/invite': [
    { ...OWNER_CONFIRMED, request: () => ({ path: '/people/invite', body: { role: 'owner' } }) },
  ],
  'POST /people/uninvite': [
    {
      ...OWNER,
      operator: 'NOT_FOUND',
      request: () => ({ path: '/people/uninvite', body: { id: 'inv_123456789abcdefghi' } }),
    },
  ],
  // For the holder of an invitation's code; this one belongs to none.
  'POST /people/invitation/read': [
    {
      nobody: INVITATION_OVER,
      anonymous: INVITATION_OVER,
      stranger: INVITATION_OVER,
      viewer: INVITATION_OVER,
      operator: INVITATION_OVER,
      request: () => ({ path: '/people/invitation/read', body: { code: 'a'.repeat(43) } }),
    },
  ],
  'POST /people/join': [
    {
      ...WALLETS,
      stranger: INVITATION_OVER,
      viewer: 'INVALID_PARAMETERS',
      operator: 'INVALID_PARAMETERS',
      request: ({ stranger }) => ({
        path: '/people/join',
        body: { code: 'a'.repeat(43), walletAddress: stranger },
      }),
    },
  ],
  'POST /people/change': [
    {
      ...OWNER_CONFIRMED,
      request: ({ viewer }) => ({
        path: '/people/change',
        body: { walletAddress: viewer, role: 'owner' },
      }),
    },
  ],
  'POST /people/remove': [
    {
      ...OWNER,
      request: ({ viewer }) => ({ path: '/people/remove', body: { walletAddress: viewer } }),
    },
  ],
  'GET /mail': [{ ...READER, ...plain('/mail') }],
  // For each person's own address; this proxy sends no e-mails.
  'POST /mail': [
    {
      ...READER,
      viewer: 'SERVICE_UNAVAILABLE',
      operator: 'SERVICE_UNAVAILABLE',
      request: () => ({
        path: '/mail',
        body: { address: 'ana@example.com', language: 'en', kinds: [] },
      }),
    },
  ],
  'POST /mail/confirm': [
    {
      ...READER,
      viewer: 'INVALID_PARAMETERS',
      operator: 'INVALID_PARAMETERS',
      request: () => ({ path: '/mail/confirm', body: { code: '12345678' } }),
    },
  ],
  'POST /mail/delete': [{ ...READER, request: () => ({ path: '/mail/delete', body: {} }) }],
  'POST /audit-log/read': [{ ...OWNER, request: () => ({ path: '/audit-log/read', body: {} }) }],
}
