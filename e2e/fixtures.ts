import { expect, test as base, type BrowserContext, type Page } from '@playwright/test'
import bs58 from 'bs58'
import type { Hex } from 'viem'
import { Devnet } from '#devnet/network.ts'
import { MailServer } from '#testing/mail-server.ts'
import { startRelay, type Relay } from '#testing/walletconnect-relay.ts'
import { fundEthereum, fundSolana, openChains, type Chains } from './chain.ts'
import { randomKeypair, randomPrivateKey, startRandom } from './random.ts'
import { EthereumWallet } from './wallets/ethereum.ts'
import { SolanaTestWallet } from './wallets/solana.ts'

/** A person with a separate browser, with both wallets installed. */
export type Person = {
  context: BrowserContext
  page: Page
  ethereum: EthereumWallet
  solana: SolanaTestWallet
}

export type Funds = { ether?: string; sol?: number }

type Keys = {
  privateKeys: readonly Hex[]
  secretKeys: readonly Uint8Array[]
  /** What the wallet on Ethereum calls itself. */
  name?: 'Phantom'
}

type Fixtures = {
  /** Seeds the random values of the story. */
  random: undefined
  chains: Chains
  /** The pages' console errors, and the patterns that a test announced. */
  errors: { expected: RegExp[]; unexpected: string[] }
  /**
   * Announces an error that the test provokes; any other error on a page's console fails the test.
   */
  expectError: (pattern: RegExp) => void
  /** A separate browser, with its console watched. */
  newBrowser: () => Promise<BrowserContext>
  open: (keys: Keys) => Promise<Person>
  /** Someone without a wallet: they have only the demo wallet. */
  visitor: () => Promise<Page>
  /** A new person whose first accounts hold these funds; their second accounts are empty. */
  buyer: (funds?: Funds) => Promise<Person>
  /** The owner of the demo seller's wallets. */
  seller: () => Promise<Person>
}

export const test = base.extend<Fixtures, { net: Devnet; relay: Relay; mail: MailServer }>({
  mail: [
    async ({}, use) => {
      await using mail = await MailServer.open()
      await use(mail)
    },
    { scope: 'worker' },
  ],

  relay: [
    async ({}, use) => {
      await using relay = await startRelay()
      await use(relay)
    },
    { scope: 'worker' },
  ],

  net: [
    async ({ relay, mail }, use) => {
      await using net = await Devnet.create({
        relayUrl: relay.url,
        smtpUrl: `smtp://127.0.0.1:${mail.port}`,
      })
      await use(net)
    },
    { scope: 'worker', timeout: 180_000 },
  ],

  random: [
    async ({}, use, { config, titlePath, repeatEachIndex, retry }) => {
      startRandom(JSON.stringify([config.metadata['seed'], titlePath, repeatEachIndex, retry]))
      await use(undefined)
    },
    { auto: true },
  ],

  chains: async ({ net }, use) => use(openChains(net)),

  errors: [
    async ({}, use) => {
      const errors = { expected: [], unexpected: [] }
      await use(errors)
      expect(errors.unexpected, 'errors on the pages’ consoles').toEqual([])
    },
    { auto: true },
  ],

  expectError: async ({ errors }, use) =>
    use((pattern) => {
      errors.expected.push(pattern)
    }),

  newBrowser: async ({ browser, net, errors }, use) => {
    const contexts: BrowserContext[] = []
    await use(async () => {
      const context = await browser.newContext({ baseURL: net.urls.web })
      contexts.push(context)
      watch(context, (text) => {
        if (!errors.expected.some((pattern) => pattern.test(text))) errors.unexpected.push(text)
      })
      return context
    })
    for (const context of contexts) await context.close()
  },

  open: async ({ net, newBrowser }, use) =>
    use(async ({ privateKeys, secretKeys, name }) => {
      const context = await newBrowser()
      const ethereum = new EthereumWallet({
        privateKeys,
        rpcUrl: net.evm.rpcUrl,
        chainId: net.evm.chainId,
        ...(name && { name }),
      })
      const solana = new SolanaTestWallet({ secretKeys })
      await ethereum.install(context)
      await solana.install(context)
      return { context, page: await context.newPage(), ethereum, solana }
    }),

  visitor: async ({ newBrowser }, use) => use(async () => (await newBrowser()).newPage()),

  buyer: async ({ open, chains }, use) =>
    use(async ({ ether = '0', sol = 0 } = {}) => {
      const ethereum = await fundEthereum(chains, ether)
      const solana = await fundSolana(chains, sol)
      return open({
        privateKeys: [ethereum.privateKey, randomPrivateKey()],
        secretKeys: [solana.secretKey, randomKeypair().secretKey],
      })
    }),

  seller: async ({ open, net }, use) =>
    use(() => {
      const { evm, solana } = net.wallets.seller
      return open({ privateKeys: [evm.privateKey], secretKeys: [bs58.decode(solana.secretKey)] })
    }),
})

export { expect }

function watch(context: BrowserContext, report: (text: string) => void): void {
  context.on('console', (message) => {
    if (message.type() === 'error')
      report(`console.error: ${message.text()} (${message.location().url})`)
  })
  context.on('weberror', (error) => report(`uncaught: ${String(error.error())}`))
}
