import { ProblemError } from '#contract/problem.ts'
import { familyOf } from '#contract/network.ts'
import { parseAddress } from '#contract/address.ts'
import { signInMessage } from '#contract/sign-in-message.ts'
import type { ProxyContext } from '../context/context.ts'
import { insertChallenge, takeChallenge } from '../db/sessions.ts'
import { BROWSER_COOKIE, readCookie, setCookie, type CookieSite } from './open-session.ts'
import { createCookieValue, createId, createNonce, hashCookieValue } from './random.ts'
import { isSignedByEvm } from '#chains/evm/verify-signature.ts'
import { isSignedBySolana } from '#chains/solana/signature.ts'

const CHALLENGE_MS = 5 * 60_000
const STATEMENT = 'Sign in to see your payments. This moves no money and costs nothing.'

export type Asking = { origin: string; cookies: string | undefined; site: CookieSite }

/**
 * Writes and stores the exact text that proves a wallet. It is bound to the page's origin and to
 * the browser that asked.
 */
export async function issueChallenge(
  context: ProxyContext,
  requested: { walletAddress: string; network: string },
  asking: Asking,
) {
  const network = context.config.networks.find((known) => known.network === requested.network)
  if (!network)
    throw new ProblemError('INVALID_PARAMETERS', {
      details: {
        network: `Expected one of ${context.config.networks.map((known) => known.network).join(', ')}.`,
      },
    })
  const parsed = parseAddress(requested.walletAddress)
  if (!parsed.ok || parsed.family !== familyOf(network.network)) {
    throw new ProblemError('INVALID_PARAMETERS', {
      details: { walletAddress: `Expected an address of ${network.name}.` },
    })
  }
  // A browser keeps its value across tabs: a second challenge does not invalidate the first.
  const browser = readCookie(asking.cookies, BROWSER_COOKIE) ?? createCookieValue()
  const id = createId('sic')
  const issuedAt = context.now()
  const expiresAt = new Date(issuedAt.getTime() + CHALLENGE_MS)
  const message = signInMessage({
    origin: asking.origin,
    wallet: parsed.address,
    network: network.network,
    statement: STATEMENT,
    nonce: createNonce(),
    issuedAt,
    expiresAt,
    requestId: id,
  })
  await insertChallenge(context.db, {
    id,
    origin: asking.origin,
    browserHash: hashCookieValue(browser),
    wallet: parsed.address,
    message,
    expiresAt,
  })
  return {
    challenge: { id, message, expiresAt: expiresAt.getTime() },
    setCookie: setCookie(
      { name: BROWSER_COOKIE, value: browser, maxAgeSeconds: CHALLENGE_MS / 1000 },
      asking.site,
    ),
  }
}

/**
 * The wallet that a signature proves. The challenge is deleted before the signature is checked: a
 * second attempt, or a concurrent one, finds nothing.
 * @throws ProblemError `UNAUTHORIZED`, in the same words for every cause
 */
export async function proveWallet(
  context: ProxyContext,
  answer: { id: string; signature: string },
  asking: Asking,
): Promise<string> {
  const browser = readCookie(asking.cookies, BROWSER_COOKIE)
  const row = browser
    ? await takeChallenge(context.db, {
        id: answer.id,
        origin: asking.origin,
        browserHash: hashCookieValue(browser),
      })
    : undefined
  if (
    !row ||
    row.expiresAt <= context.now() ||
    !isSigned(row.wallet, row.message, answer.signature)
  ) {
    throw new ProblemError('UNAUTHORIZED', {
      message:
        'The sign-in was not accepted. Ask for a new message and sign it with the same wallet.',
      reason: 'sign_in_refused',
    })
  }
  return row.wallet
}

/** Whether `wallet` itself signed exactly this text. */
export function isSigned(wallet: string, message: string, signature: string): boolean {
  return wallet.startsWith('0x')
    ? isSignedByEvm(wallet, message, signature)
    : isSignedBySolana(wallet, message, signature)
}
