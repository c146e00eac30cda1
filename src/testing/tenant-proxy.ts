import { SCOPES } from '#contract/api-key-body.ts'
import { createBff, type RunningBff } from '#bff/bff.ts'
import { toConfig } from '#bff/config/config.ts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { ApiReply } from './api-client.ts'
import { TestBrowser, type BrowserResponse } from './test-browser.ts'
import { createTestDatabase } from './postgres.ts'
import { evmSigner, type WalletOwnerSigner, type Tenants } from './two-tenants.ts'

export const ORIGIN = 'http://localhost:4173'

export type TenantProxy = Awaited<ReturnType<typeof openProxy>>

/** The proxy in front of A, whose payout wallets are what visitors may pay, and an operator who signs in with another wallet. */
export async function openProxy(t: Tenants) {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase('postgres', 'bff'))
  const operator = evmSigner(privateKeyToAccount(generatePrivateKey()))
  const { key } = await t.keyOf(t.a, SCOPES)
  const config = toConfig({
    PORT: '0',
    SERVICE_URL: t.url,
    SERVICE_API_KEY: key,
    NETWORKS: JSON.stringify(t.networks),
    ALLOWED_ORIGINS: ORIGIN,
    SELLER_WALLETS: [t.a.payout.evm.address, t.a.payout.solana.publicKey.toBase58()].join(','),
    OPERATOR_WALLETS: [operator.address, t.a.payout.evm.address].join(','),
    PUBLIC_URL: 'https://files.example',
    LOG_LEVEL: 'fatal',
  })
  let aheadMs = 0
  const bff: RunningBff = stack.use(
    await createBff(
      { ...config, database: database.target },
      { now: () => new Date(Date.now() + aheadMs) },
    ),
  )
  const running = stack.move()
  return {
    url: bff.url,
    config: bff.context.config,
    operator,
    /** What one address may ask in a minute is not what is tried. */
    passMinute: () => void (aheadMs += 61_000),
    browser: () => new TestBrowser(() => bff.url, ORIGIN),
    async signedIn(...wallets: WalletOwnerSigner[]): Promise<TestBrowser> {
      const browser = new TestBrowser(() => bff.url, ORIGIN)
      for (const wallet of wallets) {
        const answer = await browser.signIn(wallet)
        if (answer.status !== 200) throw new Error(answer.text)
      }
      return browser
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** An answer to a browser, as other clients read theirs. */
export function asReply({ json, ...answer }: BrowserResponse): ApiReply {
  return { ...answer, body: json }
}
