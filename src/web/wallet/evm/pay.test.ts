import type { EIP1193Provider } from 'viem'
import { afterEach, expect, test, vi } from 'vitest'
import { buildPayment } from '#chains/evm/build.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import type { CheckedTransaction, WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { ChosenAccount } from '../state/chosen.ts'
import type { TypedData } from '../state/wallet-adapter.ts'
import { declaresExactNonce, payWithProvider, signTypedData } from './pay.ts'

const SENDER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const RECIPIENT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const HASH = `0x${'ab'.repeat(32)}`
const network: Network = {
  network: 'eip155:31337',
  name: 'Local',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
  assets: [NATIVE_ETH],
}
const order: WalletPaymentIntent = {
  id: 'a',
  createdAt: 0,
  network: network.network,
  asset: NATIVE_ETH,
  sender: SENDER,
  recipient: RECIPIENT,
  amountAtomic: 10n ** 16n,
  walletName: 'Wallet',
}
const bytes = buildPayment({
  ...order,
  paymentId: 'pay_1111111111111111111111',
  nonce: 7,
  gas: 21_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
})
const built: CheckedTransaction = {
  paymentId: 'p',
  bytes,
  lastValidBlockHeight: 1,
  deadlineAt: 0,
  builtHeight: 0,
  nonce: 7,
  maxFeeAtomic: 1n,
  digest: '',
}

const data: TypedData = {
  domain: { name: 'Test', chainId: 31_337 },
  types: { Proof: [{ name: 'of', type: 'string' }] },
  primaryType: 'Proof',
  message: { of: 'payment' },
}
const firstOf = ([first]: readonly string[]) => first

/** A wallet whose answers the test controls; by default it is on the right chain and sends. */
function walletWith(answers: Record<string, (params: unknown) => unknown>) {
  const asked: { method: string; params: unknown }[] = []
  let chainId = '0x7a69'
  const usual: Record<string, (params: unknown) => unknown> = {
    eth_accounts: () => [SENDER.toLowerCase()],
    eth_chainId: () => chainId,
    eth_sendTransaction: () => HASH,
    wallet_switchEthereumChain: () => ((chainId = '0x7a69'), null),
    wallet_addEthereumChain: () => ((chainId = '0x7a69'), null),
  }
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    asked.push({ method, params })
    return (answers[method] ?? usual[method])?.(params)
  }
  const provider = { request } as unknown as EIP1193Provider
  return {
    asked,
    methods: () => asked.map(({ method }) => method),
    declares: () => declaresExactNonce(provider, '0x7a69', SENDER),
    pay: (pick = firstOf) => payWithProvider(provider, network, { order, built, pick }),
    sign: (pick = firstOf) =>
      signTypedData(provider, network, { address: SENDER, walletName: 'Wallet', data, pick }),
    onChain: (id: string) => (chainId = id),
  }
}

afterEach(() => void vi.useRealTimers())

const fail = (error: unknown) => () => {
  throw error
}

test('the wallet is asked with the fields of the bytes, and with nothing else', async () => {
  const wallet = walletWith({})
  expect(await wallet.pay()).toEqual({ kind: 'sent', signature: HASH })
  expect(wallet.asked.at(-1)).toEqual({
    method: 'eth_sendTransaction',
    params: [
      {
        from: SENDER,
        to: RECIPIENT,
        value: '0x2386f26fc10000',
        gas: '0x5208',
        maxFeePerGas: '0x77359400',
        maxPriorityFeePerGas: '0x3b9aca00',
        nonce: '0x7',
        chainId: '0x7a69',
        type: '0x2',
      },
    ],
  })
})

test('a wallet on another chain is switched first; one that does not know the chain is told of it', async () => {
  const wallet = walletWith({})
  wallet.onChain('0x1')
  expect(await wallet.pay()).toMatchObject({ kind: 'sent' })
  expect(wallet.methods()).toContain('wallet_switchEthereumChain')

  for (const error of [
    { code: 4902 },
    { code: -32603, message: 'x', data: { originalError: { code: 4902 } } },
    new Error('x', { cause: { code: 4902 } }),
  ]) {
    const strange = walletWith({ wallet_switchEthereumChain: fail(error) })
    strange.onChain('0x1')
    expect(await strange.pay()).toMatchObject({ kind: 'sent' })
    expect(strange.methods()).toContain('wallet_addEthereumChain')
  }
})

test('a wallet that says it switched and did not is not asked to send', async () => {
  const wallet = walletWith({ wallet_switchEthereumChain: () => null })
  wallet.onChain('0x1')
  expect(await wallet.pay()).toMatchObject({ kind: 'refused', userError: { code: 'WRONG_CHAIN' } })
  expect(wallet.methods()).not.toContain('eth_sendTransaction')
})

test('a network that cannot be added is told as that, and a refusal to add it as a refusal', async () => {
  for (const [error, code] of [
    [{ code: -32603, message: 'rpc not reachable' }, 'ADD_CHAIN_FAILED'],
    [{ code: 4001 }, 'REJECTED'],
  ] as const) {
    const wallet = walletWith({
      wallet_switchEthereumChain: fail({ code: 4902 }),
      wallet_addEthereumChain: fail(error),
    })
    wallet.onChain('0x1')
    expect(await wallet.pay()).toMatchObject({ kind: 'refused', userError: { code } })
  }
})

test('an account that was switched is noticed right before the request', async () => {
  const wallet = walletWith({ eth_accounts: () => [RECIPIENT, SENDER] })
  expect(await wallet.pay()).toEqual({ kind: 'signer_changed' })
  expect(wallet.methods()).not.toContain('eth_sendTransaction')
})

test('an account that was chosen pays and signs, though it is not the wallet’s first', async () => {
  const accounts = [RECIPIENT, SENDER]
  const chosen = new ChosenAccount()
  chosen.choose(SENDER, accounts)
  const pick = (all: readonly string[]) => chosen.pick(all)
  const wallet = walletWith({
    eth_accounts: () => accounts,
    eth_signTypedData_v4: () => `0x${'11'.repeat(64)}1b`,
  })
  expect(await wallet.pay(pick)).toEqual({ kind: 'sent', signature: HASH })
  expect(wallet.asked.at(-1)?.params).toMatchObject([{ from: SENDER }])
  expect(await wallet.sign(pick)).toBe(`0x${'11'.repeat(64)}1b`)
  // The person selects another account in the wallet: that one is meant from now on.
  accounts.unshift('0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC')
  expect(await wallet.pay(pick)).toEqual({ kind: 'signer_changed' })
  await expect(wallet.sign(pick)).rejects.toMatchObject({ signal: 'unauthorized' })
})

test.each([
  ['00', '1b'],
  ['01', '1c'],
  ['1b', '1b'],
  ['1C', '1c'],
])(
  'a signature that ends in %s is passed on with %s, as token contracts want it',
  async (v, to) => {
    const wallet = walletWith({ eth_signTypedData_v4: () => `0x${'A1'.repeat(64)}${v}` })
    expect(await wallet.sign()).toBe(`0x${'a1'.repeat(64)}${to}`)
  },
)

test('only an error that is certain to have sent nothing is a refusal', async () => {
  for (const [error, kind] of [
    [{ code: 4001 }, 'refused'],
    [{ code: -32002, message: 'Already processing eth_sendTransaction.' }, 'refused'],
    // What geth answers to the wallet, perhaps after it took the transaction: bare, and wrapped.
    [{ code: -32002, message: 'request timed out' }, 'lost'],
    [{ code: -32603, message: 'x', data: { code: -32002, message: 'request timed out' } }, 'lost'],
    [{ code: -32002 }, 'lost'],
    [{ code: -32000, message: 'insufficient funds for gas' }, 'refused'],
    [{ code: -32603, message: 'Internal JSON-RPC error.' }, 'lost'],
    [new Error('Failed to fetch'), 'lost'],
    [new Error('disconnected port'), 'lost'],
    // The connection ended while an approval may already have been given.
    [{ code: 4900, message: 'Disconnected.' }, 'lost'],
    [{ code: 4901, message: 'Chain disconnected.' }, 'lost'],
    [{ code: 4100 }, 'refused'],
  ] as const) {
    expect(await walletWith({ eth_sendTransaction: fail(error) }).pay()).toMatchObject({ kind })
  }
})

test('an answer that is no transaction hash is lost, not sent', async () => {
  for (const answer of [null, undefined, '0x', 'ok', {}, HASH.slice(0, -1), `${HASH}0`, [HASH], 7])
    expect(await walletWith({ eth_sendTransaction: () => answer }).pay()).toEqual({ kind: 'lost' })
})

test('a locked wallet, or one that was disconnected, is not asked to send', async () => {
  const locked = walletWith({ eth_accounts: () => [] })
  expect(await locked.pay()).toEqual({ kind: 'signer_changed' })
  const gone = walletWith({ eth_accounts: fail({ code: 4900 }) })
  expect(await gone.pay()).toMatchObject({ kind: 'refused', userError: { code: 'DISCONNECTED' } })
  for (const wallet of [locked, gone]) expect(wallet.methods()).not.toContain('eth_sendTransaction')
})

test('an account that is switched while the network is is noticed too', async () => {
  let account = SENDER
  const wallet = walletWith({
    wallet_switchEthereumChain: () => {
      account = RECIPIENT
      wallet.onChain('0x7a69')
      return null
    },
    eth_accounts: () => [account],
  })
  wallet.onChain('0x1')
  expect(await wallet.pay()).toEqual({ kind: 'signer_changed' })
  expect(wallet.methods()).not.toContain('eth_sendTransaction')
})

const never = () => new Promise<never>(() => {})

test.each([
  [
    'eth_chainId',
    {
      kind: 'refused',
      userError: { code: 'TIMEOUT', body: 'Sign again. Nothing was sent.' },
    },
  ],
  [
    'eth_accounts',
    {
      kind: 'refused',
      userError: { code: 'TIMEOUT', body: 'Sign again. Nothing was sent.' },
    },
  ],
  ['wallet_switchEthereumChain', { kind: 'refused', userError: { code: 'WRONG_CHAIN' } }],
  ['wallet_addEthereumChain', { kind: 'refused', userError: { code: 'ADD_CHAIN_FAILED' } }],
  // A wallet that may still approve may still send.
  ['eth_sendTransaction', { kind: 'lost' }],
])('a wallet that never answers %s is not waited for without end', async (method, answer) => {
  vi.useFakeTimers()
  const wallet = walletWith({
    ...(method === 'wallet_addEthereumChain' && {
      wallet_switchEthereumChain: fail({ code: 4902 }),
    }),
    [method]: never,
  })
  if (method.startsWith('wallet_')) wallet.onChain('0x1')
  const paid = wallet.pay()
  await vi.advanceTimersByTimeAsync(5 * 60_000)
  expect(await paid).toMatchObject(answer)
  if (method !== 'eth_sendTransaction')
    expect(wallet.methods()).not.toContain('eth_sendTransaction')
})

test.each<[string, boolean, (params: unknown) => unknown]>([
  ['declares it', true, () => ({ '0x7a69': { exactNonce: { supported: true } } })],
  ['denies it', false, () => ({ '0x7a69': { exactNonce: { supported: false } } })],
  ['declares it for another chain', false, () => ({ '0x1': { exactNonce: { supported: true } } })],
  ['declares something else', false, () => ({ '0x7a69': { atomic: { status: 'supported' } } })],
  ['knows no capabilities', false, fail({ code: 4200 })],
  ['never answers', false, never],
])('a wallet that %s keeps the nonce: %s', async (_, keeps, answer) => {
  vi.useFakeTimers()
  const declared = walletWith({ wallet_getCapabilities: answer }).declares()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await declared).toBe(keeps)
})
