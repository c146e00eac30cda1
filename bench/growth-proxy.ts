import type { browserEndpoints } from '#contract/browser-endpoints.ts'
import { succeed, textAt } from '#testing/api-client.ts'
import { INVOICE, PRODUCT, fileTerms } from '#testing/proxy-cells.ts'
import { asReply } from '#testing/tenant-proxy.ts'
import type { GrowthCase, GrowthCases } from './growth-cases.ts'
import { copyId, customerAt, linkCode, paidAt, type GrowthShop } from './growth-shop.ts'

/** What `bench:growth` asks the proxy, as an owner who is signed in. */

const NONE = 'Reads no rows that payments add to.'
const PEOPLE = 'Rows of people, of whom a merchant has few.'
const WALLETS = 'Rows of managed wallets, of which an account has few.'

type Body = object | ((shop: GrowthShop, turn: number, prepared: string) => object)
type Made = (shop: GrowthShop, turn: number) => Promise<string>

function look(path: string): GrowthCase {
  return {
    prepare:
      async ({ operator }) =>
      async () =>
        asReply(await operator.get(`/api${path}`)),
  }
}

function ask(path: string, body: Body, more: { name?: string; made?: Made } = {}): GrowthCase {
  return {
    name: more.name,
    prepare: async (shop, turn) => {
      const made = (await more.made?.(shop, turn)) ?? ''
      const sent = typeof body === 'function' ? body(shop, turn, made) : body
      return async () => asReply(await shop.operator.post(`/api${path}`, sent))
    },
  }
}

const make =
  (path: string, body: object, field: string): Made =>
  async ({ operator }) =>
    textAt(succeed(asReply(await operator.post(`/api${path}`, body))).body, field)

const makeInvoice = make('/invoices', INVOICE, 'invoice.id')
const byId: Body = (_shop, _turn, id) => ({ id })
const SHORT = { price: { currency: 'ETH', amount: '0.01' } }

const issued: Made = async (shop, turn) => {
  const id = await makeInvoice(shop, turn)
  succeed(asReply(await shop.operator.post('/api/invoices/issue', { id })))
  return id
}

export const PROXY_CASES: Record<keyof typeof browserEndpoints, GrowthCases> = {
  config: NONE,
  session: NONE,
  sessionChallenge: NONE,
  sessionCreate: NONE,
  sessionDelete: NONE,
  sessionList: [look('/sessions')],
  sessionEndOthers: [ask('/sessions/end-others', {})],
  rateList: NONE,
  linkList: [look('/links')],
  surplusList: [ask('/links/surplus', {})],
  linkCreate: [
    ask('/links', ({ t }) => ({
      network: t.evm.network.network,
      recipient: t.a.payout.evm.address,
      amount: 0.01,
    })),
  ],
  shortLinkCreate: [ask('/links/short', SHORT)],
  linkWithdraw: [ask('/links/withdraw', (_shop, turn) => ({ id: copyId('lnk', turn + 1) }))],
  linkRestore: [ask('/links/restore', (_shop, turn) => ({ id: copyId('lnk', turn + 1) }))],
  linkRead: [
    ask('/link/read', (_shop, _turn, link) => ({ link }), {
      made: async (shop, turn) =>
        make(
          '/links',
          {
            network: shop.t.evm.network.network,
            recipient: shop.t.a.payout.evm.address,
            amount: 0.01,
          },
          'link.link',
        )(shop, turn),
    }),
  ],
  linkOpen: [ask('/link/open', (_shop, turn) => ({ link: linkCode(turn + 1) }))],
  linkSurplus: [
    ask('/link/surplus', (_shop, turn) => ({
      link: linkCode(turn + 1),
      paymentId: paidAt(turn, 6),
    })),
  ],
  linkLease: [
    ask('/link/lease', (_shop, turn) => ({
      link: linkCode(turn + 1),
      paymentId: paidAt(turn, 6),
    })),
  ],
  linkPay: [
    ask('/link/pay', ({ t, payer }, turn) => ({
      link: linkCode(turn + 1),
      walletAddress: payer.address,
      option: { network: t.evm.network.network, asset: 'ETH' },
    })),
  ],
  productList: [look('/products')],
  productCreate: [ask('/products', PRODUCT)],
  productUpdate: [
    ask('/products/update', (_shop, turn) => ({ ...PRODUCT, id: copyId('prd', turn + 1) })),
  ],
  productArchive: [
    ask('/products/archive', (_shop, turn) => ({ id: copyId('prd', turn + 1), archived: true })),
  ],
  imageRead: 'Reads pictures by their keys.',
  invoiceList: [
    ask('/invoices/list', {}, { name: 'all' }),
    ask('/invoices/list', { state: 'open' }, { name: 'open' }),
    ask('/invoices/list', { state: 'overdue' }, { name: 'overdue' }),
    ask('/invoices/list', { q: 'INV-1007' }, { name: 'a number' }),
    ask('/invoices/list', { q: 'nothing' }, { name: 'a word that none has' }),
  ],
  invoiceRead: [ask('/invoices/read', (_shop, turn) => ({ id: copyId('ivc', turn + 1) }))],
  invoiceSave: [
    ask('/invoices', { ...INVOICE, customer: { name: 'Bo', email: 'bo@example.com' } }),
  ],
  invoiceDelete: [ask('/invoices/delete', byId, { made: makeInvoice })],
  invoiceIssue: [ask('/invoices/issue', byId, { made: makeInvoice })],
  invoiceVoid: [ask('/invoices/void', byId, { made: issued })],
  invoiceUnvoid: [
    ask('/invoices/unvoid', byId, {
      made: async (shop, turn) => {
        const id = await issued(shop, turn)
        succeed(asReply(await shop.operator.post('/api/invoices/void', { id })))
        return id
      },
    }),
  ],
  invoicePrefix: [ask('/invoices/prefix', { prefix: 'X-' })],
  invoiceSeller: [ask('/invoices/seller', { name: 'Tea Ltd' })],
  invoiceCustomers: [look('/invoices/customers')],
  invoiceForget: [
    ask('/invoices/forget-customer', (_shop, turn) => ({ id: copyId('cus', turn + 1) })),
  ],
  hostedWallets: WALLETS,
  hostedIntent: 'Signed by an owner; it sums up what a wallet sent in a day.',
  hostedSend: 'Signed by an owner; its rows are those of paymentSend.',
  balanceWallets: WALLETS,
  balanceAlerts: WALLETS,
  balanceAlert: WALLETS,
  approval: NONE,
  noteRead: [
    ask('/notes/read', {
      paymentIds: Array.from({ length: 50 }, (_, n) => copyId('pay', n + 1)),
    }),
  ],
  noteWrite: [
    ask('/notes', (_shop, turn) => ({
      paymentIds: [paidAt(turn, 7)],
      addLabels: ['checked'],
      note: 'Sent.',
    })),
  ],
  noteLabels: [look('/notes/labels')],
  profileRead: [
    ask('/customers/profiles/read', {
      wallets: Array.from({ length: 50 }, (_, n) => customerAt(n + 1)),
    }),
  ],
  profileFind: [
    ask('/customers/profiles/find', { text: 'label 7' }, { name: 'a label of many' }),
    ask('/customers/profiles/find', { text: 'nothing' }, { name: 'a word that none has' }),
  ],
  profileWrite: [
    ask('/customers/profiles', (_shop, turn) => ({
      walletAddress: customerAt(turn + 1),
      name: 'Ana',
      labels: ['wholesale'],
    })),
  ],
  profileExport: [
    ask('/customers/profiles/export', (_shop, turn) => ({ walletAddress: customerAt(turn + 1) })),
  ],
  profileDelete: [
    ask('/customers/profiles/delete', (_shop, turn) => ({ walletAddress: customerAt(turn + 1) })),
  ],
  peopleList: PEOPLE,
  peopleInvite: PEOPLE,
  peopleUninvite: PEOPLE,
  invitationRead: PEOPLE,
  peopleJoin: PEOPLE,
  peopleChange: PEOPLE,
  peopleRemove: PEOPLE,
  auditRead: [ask('/audit-log/read', {})],
  fileList: [look('/files')],
  fileFailures: [look('/files/failures')],
  fileCreate: [ask('/files', fileTerms)],
  fileCheck: NONE,
  fileUpdate: [
    ask('/files/update', (_shop, turn) => ({ id: copyId('fil', turn + 1), name: 'Book' })),
  ],
  fileWithdraw: [ask('/files/withdraw', (_shop, turn) => ({ id: copyId('fil', turn + 1) }))],
  fileRestore: [ask('/files/restore', (_shop, turn) => ({ id: copyId('fil', turn + 1) }))],
  fileDelete: 'Possible a day after a file was withdrawn; it looks up the purchases of one file.',
  fileOpen: [ask('/files/open', ({ fileCode }) => ({ code: fileCode }))],
  fileDownload: 'Answers who has paid; it looks up one purchase by file and wallet.',
  mailRead: PEOPLE,
  mailWrite: PEOPLE,
  mailConfirm: PEOPLE,
  mailDelete: PEOPLE,
  relay: NONE,
}
