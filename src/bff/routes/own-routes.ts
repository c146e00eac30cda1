import { ProblemError } from '#contract/problem.ts'
import { deleteSession } from '../db/sessions.ts'
import type { Visitor } from '../session/visitor.ts'
import { relay } from '../relay/relay.ts'
import { issueChallenge, proveWallet } from '../session/challenge.ts'
import type { Asking } from '../session/challenge.ts'
import { BROWSER_COOKIE, clearCookie, readCookie, SESSION_COOKIE } from '../session/cookie.ts'
import { sessionBody } from '../session/open-session.ts'
import { hashCookieValue } from '../session/random.ts'
import { signInWallet } from '../session/start-session.ts'
import { hostedIntent } from './hosted-intent.ts'
import { hostedSend } from './hosted-send.ts'
import { hostedWallets } from './hosted-wallets.ts'
import { keyApproval } from './key-approval.ts'
import { linkCreate } from './link-create.ts'
import { linkList } from './link-list.ts'
import { linkPay } from './link-pay.ts'
import { linkRead } from './link-read.ts'
import { linkRestore, linkWithdraw } from './link-withdraw.ts'
import { noteLabels, noteRead, noteWrite } from './notes.ts'
import type { OwnEndpointName, OwnRule } from '../session/own-rule.ts'
import { sessionEndOthers, sessionList } from './sessions.ts'
import { verifyOrdersOf } from './verify-orders.ts'

const config: OwnRule<'config'> = ({ context }) => {
  const {
    title,
    publicServiceUrl: serviceUrl,
    networks,
    sellerWallets,
    relay,
    examples,
    walletConnect,
  } = context.config
  return Promise.resolve({
    value: {
      title,
      serviceUrl,
      networks,
      sellerWallets,
      relay: relay.audience,
      examples,
      walletConnect,
      now: context.now().getTime(),
    },
  })
}

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
  linkCreate,
  linkWithdraw,
  linkRestore,
  linkRead,
  linkPay,
  hostedWallets,
  hostedIntent,
  hostedSend,
  keyApproval,
  noteRead,
  noteWrite,
  noteLabels,
}
