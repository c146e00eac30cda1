import { SignClient } from '@walletconnect/sign-client'
import { verifyMessage, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { startRelay } from '#testing/walletconnect-relay.ts'
import {
  closeClient,
  startRemoteWallet,
  type RemoteWalletOptions,
} from '#testing/walletconnect-wallet.ts'
import { signalOf } from '../state/errors.ts'
import { WalletConnectSession, type WalletConnectOptions } from './walletconnect-session.ts'

const CHAIN = 31_337
const MESSAGE = '0x68656c6c6f'

// One process holds many pages and wallets here: each has a separate core.
beforeEach(() => {
  vi.stubEnv('DISABLE_GLOBAL_CORE', 'true')
  return () => vi.unstubAllEnvs()
})

/**
 * This page and a wallet on another device, each with the official client, connected by a relay.
 */
async function open(
  wallet: Partial<RemoteWalletOptions> = {},
  page: Partial<WalletConnectOptions> = {},
) {
  const relay = await startRelay()
  onTestFinished(() => relay[Symbol.asyncDispose]())
  const account = privateKeyToAccount(generatePrivateKey())
  const remote = await startRemoteWallet({
    relayUrl: relay.url,
    account,
    chainIds: [CHAIN],
    ...wallet,
  })
  onTestFinished(() => remote.close())
  const told: unknown[] = []
  const init = vi.spyOn(SignClient, 'init')
  onTestFinished(() => init.mockRestore())
  const session = await WalletConnectSession.open(
    {
      projectId: '0'.repeat(32),
      relayUrl: relay.url,
      asker: { name: 'Paydesk', url: 'https://pay.example', icon: 'https://pay.example/icon.svg' },
      chainIds: [CHAIN, 8453],
      onUri: (uri) => {
        told.push(uri)
        void remote.pair(uri)
      },
      ...page,
    },
    {
      accounts: (addresses) => told.push(addresses),
      chain: (id) => told.push(id),
      end: () => told.push('end'),
    },
  )
  const client = await init.mock.results.at(-1)?.value
  onTestFinished(() => client && closeClient(client))
  return { account, remote, session, told }
}

test('a wallet that scans the code connects, and signs with its own key', async () => {
  const { account, session, told } = await open()
  expect(session.accounts()).toEqual([])
  expect(await session.connect()).toEqual([account.address])
  expect(told[0]).toMatch(/^wc:[0-9a-f]{64}@2\?/)
  expect(session.walletName).toBe('Remote wallet')
  expect(await session.request({ method: 'eth_chainId' })).toBe('0x7a69')
  const signature = (await session.request({
    method: 'personal_sign',
    params: [MESSAGE, account.address],
  })) as Hex
  expect(
    await verifyMessage({ address: account.address, message: { raw: MESSAGE }, signature }),
  ).toBe(true)
})

test('what the wallet did not grant is refused here, and asked of nobody', async () => {
  const { account, remote, session } = await open({ methods: ['personal_sign'] })
  await session.connect()
  const asking = session.request({
    method: 'eth_sendTransaction',
    params: [{ from: account.address }],
  })
  await expect(asking).rejects.toMatchObject({ code: 4200 })
  expect(remote.asked).toEqual([])
})

test('a wallet that refuses to connect, or a request, is told as a refusal of the person', async () => {
  const refusing = await open({ refuses: true })
  expect(signalOf(await refusing.session.connect().catch((error: unknown) => error))).toBe(
    'rejected',
  )
  const { account, session } = await open({
    approve: () => Promise.reject(new Error('User rejected.')),
  })
  await session.connect()
  expect(
    signalOf(
      await session
        .request({ method: 'personal_sign', params: [MESSAGE, account.address] })
        .catch((error: unknown) => error),
    ),
  ).toBe('rejected')
})

test('another account in the wallet, and the end of the session there, are heard of here', async () => {
  const { remote, session, told } = await open()
  await session.connect()
  const other = privateKeyToAccount(generatePrivateKey())
  await remote.changeAccount(other)
  await expect.poll(() => told.at(-1)).toEqual([other.address])
  expect(await session.request({ method: 'eth_accounts' })).toEqual([other.address])
  await remote.disconnect()
  await expect.poll(() => told.at(-1)).toBe('end')
  await expect(
    session.request({ method: 'personal_sign', params: [MESSAGE, other.address] }),
  ).rejects.toMatchObject({ code: 4100 })
})

test('a network that the wallet offers is switched to, another one is unknown to it', async () => {
  const { session, told } = await open({ chainIds: [CHAIN, 8453] })
  await session.connect()
  await session.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: '0x2105' }] })
  expect([session.chainId, told.at(-1)]).toEqual([8453, 8453])
  await expect(
    session.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: '0x1' }] }),
  ).rejects.toMatchObject({ code: 4902 })
})

test('a wallet without a configured network is disconnected', async () => {
  const { session } = await open({ chainIds: [1] })
  await expect(session.connect()).rejects.toMatchObject({ code: 4901 })
  expect(session.walletName).toBeUndefined()
})

test('who agrees after the person gave up is sent away', async () => {
  const shown = Promise.withResolvers<string>()
  const { session, remote } = await open({}, { onUri: shown.resolve })
  const connecting = session.connect().catch((error: unknown) => error)
  const uri = await shown.promise
  session.cancel()
  expect(signalOf(await connecting)).toBe('rejected')
  await remote.pair(uri)
  await expect.poll(() => remote.ended).toBe(true)
  expect(session.accounts()).toEqual([])
})
