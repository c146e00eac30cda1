import { publishedNetwork } from '#contract/network-config.ts'
import { ProblemError } from '#contract/problem.ts'
import { hasRole } from '#contract/role.ts'
import { findRule } from '../config/hosted-rules.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  costOf,
  outflowToday,
  findIntent,
  moveIntent,
  takeIntent,
  type HostedRow,
} from '../db/hosted.ts'
import {
  deleteSession,
  insertSessionPayment,
  type OpenSession,
  deleteOtherSessions,
  findSessionsOf,
} from '../db/sessions.ts'
import {
  sendApproved,
  recoverOutcome,
  type SendOutcome,
  toHostedIntent,
  isIntentSigned,
  refuseHosted,
  refuseOverLimit,
  sent,
} from '../hosted/execute.ts'
import { relay } from '../relay/relay.ts'
import { issueApproval } from '../session/approval.ts'
import { issueChallenge, proveWallet, type Asking } from '../session/challenge.ts'
import {
  BROWSER_COOKIE,
  clearCookie,
  readCookie,
  SESSION_COOKIE,
  roleOf,
  sessionBody,
  IDLE_MS,
  signInWallet,
} from '../session/open-session.ts'
import {
  type OwnEndpointName,
  type OwnRule,
  type OwnCall,
  requireRole,
  spender,
  requireWallet,
} from '../session/rule.ts'
import { hashCookieValue } from '../session/random.ts'
import type { Visitor } from '../session/visitor.ts'
import { balanceAlert, balanceAlerts, balanceWallets } from './balances.ts'
import {
  fileCheck,
  fileCreate,
  fileDelete,
  fileDownload,
  fileFailures,
  fileList,
  fileOpen,
  fileRestore,
  fileUpdate,
  fileWithdraw,
} from './files.ts'
import { hostedIntent } from './hosted-intent.ts'
import {
  invoiceCustomers,
  invoiceDelete,
  invoiceForget,
  invoiceIssue,
  invoiceList,
  invoicePrefix,
  invoiceRead,
  invoiceSave,
  invoiceSeller,
  invoiceUnvoid,
  invoiceVoid,
} from './invoices.ts'
import { linkPay } from './link-pay.ts'
import {
  linkCreate,
  linkList,
  linkOpen,
  linkRead,
  linkRestore,
  linkLease,
  linkSurplus,
  linkWithdraw,
  shortLinkCreate,
} from './links.ts'
import { mailConfirm, mailDelete, mailRead, mailWrite } from './mail.ts'
import { noteLabels, noteRead, noteWrite } from './notes.ts'
import {
  auditRead,
  invitationRead,
  peopleChange,
  peopleInvite,
  peopleJoin,
  peopleList,
  peopleRemove,
  peopleUninvite,
} from './people.ts'
import { imageRead, productArchive, productCreate, productList, productUpdate } from './products.ts'
import { profileDelete, profileExport, profileFind, profileRead, profileWrite } from './profiles.ts'
import { surplusList } from './surplus.ts'
import { verifyOrdersOf } from './build-payment.ts'

/** Where the wallets of this session are signed in, here and elsewhere. */
const sessionList: OwnRule<'sessionList'> = async ({ context, visitor }) => {
  const own = requireWallet(visitor)
  const rows = await findSessionsOf(context.db, own.wallets, context.now())
  const sessions = rows.map((row) => ({
    current: row.id === own.id,
    wallets: row.wallets,
    createdAt: row.createdAt.getTime(),
    lastUsedAt: row.idleAt.getTime() - IDLE_MS,
    expiresAt: Math.min(row.idleAt.getTime(), row.expiresAt.getTime()),
  }))
  return { value: { sessions: sessions.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt) } }
}

/** For someone who signed in on a machine they no longer trust, or at all: every other session of their wallets is over. */
const sessionEndOthers: OwnRule<'sessionEndOthers'> = async ({ context, visitor }) => {
  const own = requireWallet(visitor)
  const ended = await deleteOtherSessions(context.db, own.wallets, own.id)
  for (const id of ended) context.streams.end(id)
  return { value: { ended: ended.length } }
}

/**
 * Pays from a managed wallet: an operator's session, and a fresh signature over exactly this payment. It is taken once; the same request
 * again is answered with what became of it, and any other signature for it is refused.
 */
const hostedSend: OwnRule<'hostedSend'> = async (call) => {
  const { context, visitor, body } = call
  const session = requireRole(visitor, 'operator')
  context.budgets.spendSignIn(visitor.address)
  if (context.config.hosted.length === 0) throw refuseHosted('hosted_off')
  const row = await findIntent(context.db, body.nonce)
  const signatureHash = hashCookieValue(body.signature)
  if (!row || !mayRequest(session, row, signatureHash)) throw refuseHosted('hosted_intent')
  const outcome =
    row.state === 'open'
      ? await take(call, session, { row, signatureHash })
      : await repeat(call, row, signatureHash)
  if (outcome.paymentId !== null)
    await insertSessionPayment(context.db, { sessionId: session.id, paymentId: outcome.paymentId })
  return { value: outcome }
}

/**
 * What a session prepared, only that session has paid. Once it is taken, a later session of its signer
 * is told what became of the same request: sessions are short, and a lost answer is asked for again.
 */
function mayRequest({ id, wallets }: OpenSession, row: HostedRow, signatureHash: string): boolean {
  if (row.sessionId === id) return true
  return row.signatureHash === signatureHash && wallets.includes(row.signer)
}

type SendCall = OwnCall<'hostedSend'>

async function take(
  call: SendCall,
  session: OpenSession,
  { row, signatureHash }: { row: HostedRow; signatureHash: string },
): Promise<SendOutcome> {
  const { context, visitor, body } = call
  // Another request may have taken it since it was read, and decides then.
  const refuse = async (refusal: ProblemError) => {
    if (await moveIntent(context.db, row.id, { from: ['open'], to: 'refused' })) throw refusal
    return again(call, row.id, signatureHash)
  }
  // What was allowed when it was prepared may not be any more.
  const rule = findRule(context.config.hosted, row)
  if (!rule) return refuse(refuseHosted('hosted_wallet'))
  if (!(await maySign(context, session, row.signer))) return refuse(refuseHosted('hosted_signer'))
  if (!isIntentSigned(row.signer, toHostedIntent(row, rule), body.signature))
    throw refuseHosted('hosted_signature')
  if (row.amount > rule.maxPerPayment)
    return refuse(refuseOverLimit('hosted_over_payment', rule.maxPerPayment, rule.asset))
  context.budgets.spend(spender(visitor), 'action')
  const taken = await takeIntent(context.db, row, { signatureHash, rule, now: context.now })
  switch (taken.kind) {
    case 'taken':
      return sendApproved(call, taken.row, rule)
    case 'expired':
      throw refuseHosted('hosted_expired')
    case 'over_day':
      throw refuseOverLimit(
        'hosted_over_day',
        taken.left - (costOf(row, rule.asset) - row.amount),
        rule.asset,
      )
    case 'gone':
      return again(call, row.id, signatureHash)
  }
}

async function again(call: SendCall, id: string, signatureHash: string): Promise<SendOutcome> {
  const row = await findIntent(call.context.db, id)
  // Only one that nobody took in time is deleted.
  if (!row) throw refuseHosted('hosted_expired')
  return repeat(call, row, signatureHash)
}

async function repeat(call: SendCall, row: HostedRow, signatureHash: string): Promise<SendOutcome> {
  if (row.state === 'refused') throw refuseHosted('hosted_not_sent')
  if (row.signatureHash !== signatureHash) throw refuseHosted('hosted_used')
  if (row.state === 'sent') return sent(row.paymentId)
  return (await recoverOutcome(call, row)) ?? again(call, row.id, signatureHash)
}

async function maySign(
  context: ProxyContext,
  { wallets }: OpenSession,
  signer: string,
): Promise<boolean> {
  return wallets.includes(signer) && hasRole(await roleOf(context, signer), 'operator')
}

const hostedWallets: OwnRule<'hostedWallets'> = async ({ context }) => {
  const wallets = await Promise.all(
    context.config.hosted.map(
      async ({ name, wallet, network, asset, maxPerPayment, maxPerDay }) => ({
        name,
        wallet,
        network: network.network,
        asset: asset.address,
        maxPerPaymentAtomic: maxPerPayment.toString(),
        maxPerDayAtomic: maxPerDay.toString(),
        spentAtomic: (
          await outflowToday(
            context.db,
            { sender: wallet, network: network.network, asset },
            context.now(),
          )
        ).toString(),
      }),
    ),
  )
  return { value: { wallets } }
}

/** The text to be signed before a key is made or replaced. */
const approval: OwnRule<'approval'> = async ({ context, visitor, body }) => {
  context.budgets.spendSignIn(visitor.address)
  return { value: await issueApproval(context, visitor, body) }
}

const config: OwnRule<'config'> = ({ context }) => {
  const {
    title,
    logo = null,
    accentColor = null,
    publicServiceUrl: serviceUrl,
    networks,
    sellerWallets,
    relay,
    examples,
    walletConnect,
    timeZone,
  } = context.config
  return Promise.resolve({
    value: {
      title,
      logo,
      accentColor,
      serviceUrl,
      networks: networks.map(publishedNetwork),
      sellerWallets,
      relay: relay.audience,
      examples,
      walletConnect,
      currencies: context.rates.currencies,
      timeZone,
      now: context.now().getTime(),
    },
  })
}

const rateList: OwnRule<'rateList'> = async ({ context }) => ({
  value: await context.rates.readAll(),
})

const session: OwnRule<'session'> = ({ visitor }) =>
  Promise.resolve({ value: { session: visitor.session ? sessionBody(visitor.session) : null } })

const sessionChallenge: OwnRule<'sessionChallenge'> = async ({ context, visitor, body }) => {
  context.budgets.spendSignIn(visitor.address)
  const issued = await issueChallenge(context, body, asking(visitor))
  return { value: issued.challenge, cookies: [issued.setCookie] }
}

const sessionCreate: OwnRule<'sessionCreate'> = async ({ context, visitor, body, requestId }) => {
  context.budgets.spendSignIn(visitor.address)
  const wallet = await proveWallet(context, body, asking(visitor))
  const started = await signInWallet(context, wallet, visitor)
  context.streams.refresh(started.session)
  // Beside the answer: a service that is slow holds no sign-in up.
  void verifyOrdersOf(
    { context, visitor: { ...visitor, session: started.session }, requestId },
    started.session,
    wallet,
  )
  return {
    value: { session: sessionBody(started.session) },
    cookies: [started.setCookie, clearCookie(BROWSER_COOKIE, visitor.site)],
  }
}

/**
 * Ends the session here and in the browser. No `Clear-Site-Data`: it would reach over to the cookies of the seller's whole domain,
 * or to the journal of payments under way where the web app shares this origin.
 */
const sessionDelete: OwnRule<'sessionDelete'> = async ({ context, visitor }) => {
  const cookie = readCookie(visitor.cookies, SESSION_COOKIE)
  const ended = cookie ? await deleteSession(context.db, hashCookieValue(cookie)) : undefined
  if (ended) context.streams.end(ended)
  return {
    value: { session: null },
    cookies: [clearCookie(SESSION_COOKIE, visitor.site), clearCookie(BROWSER_COOKIE, visitor.site)],
  }
}

/** State changes come only from an allowed origin; this makes the type say so. */
function asking(visitor: Visitor): Asking {
  if (!visitor.origin)
    throw new ProblemError('FORBIDDEN', { message: 'A sign-in needs an Origin header.' })
  return { origin: visitor.origin, cookies: visitor.cookies, site: visitor.site }
}

export const ownRoutes: { readonly [K in OwnEndpointName]: OwnRule<K> } = {
  config,
  session,
  sessionChallenge,
  sessionCreate,
  sessionDelete,
  sessionList,
  sessionEndOthers,
  relay,
  linkList,
  surplusList,
  linkCreate,
  shortLinkCreate,
  linkWithdraw,
  linkRestore,
  rateList,
  linkRead,
  linkOpen,
  linkLease,
  linkSurplus,
  linkPay,
  productList,
  productCreate,
  productUpdate,
  productArchive,
  imageRead,
  invoiceCustomers,
  invoiceDelete,
  invoiceForget,
  invoiceIssue,
  invoiceList,
  invoicePrefix,
  invoiceRead,
  invoiceSave,
  invoiceSeller,
  invoiceUnvoid,
  invoiceVoid,
  hostedWallets,
  hostedIntent,
  hostedSend,
  balanceWallets,
  balanceAlerts,
  balanceAlert,
  approval,
  noteRead,
  noteWrite,
  noteLabels,
  profileRead,
  profileFind,
  profileWrite,
  profileExport,
  profileDelete,
  peopleList,
  peopleInvite,
  peopleUninvite,
  invitationRead,
  peopleJoin,
  peopleChange,
  peopleRemove,
  auditRead,
  fileList,
  fileFailures,
  fileCreate,
  fileCheck,
  fileUpdate,
  fileWithdraw,
  fileRestore,
  fileDelete,
  fileOpen,
  fileDownload,
  mailRead,
  mailWrite,
  mailConfirm,
  mailDelete,
}
