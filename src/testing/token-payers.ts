import { VersionedTransaction, type Keypair } from '@solana/web3.js'
import { x402Client } from '@x402/core/client'
import type { PaymentRequirements } from '@x402/core/types'
import {
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  http,
  maxUint256,
  parseAbi,
  parseEther,
  type Hex,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Asset, Network } from '#contract/network.ts'
import {
  exactPermit2Proxy,
  multicall3,
  permit2,
  usdCoin,
  wrappedEther,
} from '#devnet/tokens/evm.ts'
import { createSolanaAccounts, SOLANA_TOKENS } from '#devnet/tokens/solana.ts'
import type { Context } from '#service/context/context.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { createEvmClient } from '#x402/client/evm.ts'
import { createSolanaClient } from '#x402/client/solana.ts'
import { encodeHeader } from '#x402/header.ts'
import type { Requirements } from '#x402/requirements.ts'
import type { EvmFixture, SolanaFixture } from './local-chains.ts'

/** Tokens on the bare chains of the tests, and payers who pay in them with the official client. */

export type EvmTokens = {
  network: Network
  usdc: Asset
  weth: Asset
  fund: (holder: Hex) => Promise<void>
}

const constructorAbi = parseAbi(['constructor(address holder, uint256 supply)'])
const depositAbi = parseAbi(['function deposit() payable'])

/** USDC by EIP-3009, WETH, Permit2 and the proxy of x402. */
export async function deployTokens(evm: EvmFixture): Promise<EvmTokens> {
  for (const { address, runtimeCode } of [permit2, exactPermit2Proxy, multicall3])
    await evm.setCode(address, runtimeCode)
  const owner = await evm.wallet(parseEther('10000'))
  let last: Promise<unknown> = Promise.resolve()
  // One after the other: each takes the owner's next nonce.
  const send = async (call: { to?: Hex; data: Hex; value?: bigint }) => {
    const sent = last.then(() => sendFrom(evm, owner, call))
    last = sent.catch(() => undefined)
    const { contractAddress } = await evm.client.getTransactionReceipt({ hash: await sent })
    return contractAddress ? getAddress(contractAddress) : '0x'
  }
  const usdcCode = encodeDeployData({
    abi: constructorAbi,
    bytecode: usdCoin.bytecode,
    args: [owner.address, 10n ** 15n],
  })
  const usdc: Asset = {
    name: 'USD Coin',
    symbol: 'USDC',
    decimals: 6,
    native: false,
    address: await send({ data: usdcCode }),
  }
  const weth: Asset = {
    name: 'Wrapped Ether',
    symbol: 'WETH',
    decimals: 18,
    native: false,
    address: await send({ data: wrappedEther.bytecode }),
  }
  await send({
    to: weth.address as Hex,
    data: encodeFunctionData({ abi: depositAbi }),
    value: parseEther('5000'),
  })
  return {
    network: { ...evm.network, assets: [...evm.network.assets, usdc, weth] },
    usdc,
    weth,
    async fund(holder) {
      for (const [token, amount] of [
        [usdc, 10n ** 9n],
        [weth, parseEther('10')],
      ] as const) {
        await send({
          to: token.address as Hex,
          data: encodeFunctionData({
            abi: erc20Abi,
            functionName: 'transfer',
            args: [holder, amount],
          }),
        })
      }
    },
  }
}

/** Sends and mines a transaction. */
export async function sendFrom(
  evm: EvmFixture,
  account: PrivateKeyAccount,
  call: Call,
): Promise<Hex> {
  const hash = await queueFrom(evm, account, call)
  await evm.mine()
  return hash
}

/** The same without a block; the higher `tip` stands before the lower. */
export function queueFrom(
  evm: EvmFixture,
  account: PrivateKeyAccount,
  { tip = 10n ** 9n, gas = 3_000_000n, ...call }: Call,
): Promise<Hex> {
  const fees = { gas, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: tip }
  return createWalletClient({ account, transport: http(evm.rpcUrl) }).sendTransaction({
    ...call,
    ...fees,
    chain: null,
  })
}

type Call = { to?: Hex; data?: Hex; value?: bigint; gas?: bigint; tip?: bigint }

/** Lets Permit2 move a holder's tokens, as a wallet asks for once. */
export async function approvePermit2(
  evm: EvmFixture,
  holder: PrivateKeyAccount,
  token: Asset,
): Promise<void> {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [permit2.address, maxUint256],
  })
  await sendFrom(evm, holder, { to: token.address as Hex, data })
}

/** USDC on the bare Solana, with an account for each holder. */
export async function createTokens(
  solana: SolanaFixture,
  holders: readonly string[],
): Promise<Network> {
  await createSolanaAccounts(solana.connection, holders)
  return { ...solana.network, assets: [...solana.network.assets, SOLANA_TOKENS.USDC] }
}

/** Managed wallets that pay the networks for settlements, and the context that lets them. */
export async function withFacilitator(
  context: Context,
  accountId: string,
  secrets: { evm?: Hex; solana?: Keypair },
): Promise<Context> {
  const wallets: string[] = []
  const take = async (family: 'evm' | 'solana', secret: Uint8Array) => {
    const { address } = await createWallet(
      { ...context, now: context.now() },
      { accountId, family, name: 'Settlements', secret },
    )
    wallets.push(address)
  }
  if (secrets.evm) await take('evm', Buffer.from(secrets.evm.slice(2), 'hex'))
  if (secrets.solana)
    await take('solana', Uint8Array.from(secrets.solana.secretKey.subarray(0, 32)))
  return {
    ...context,
    config: { ...context.config, facilitators: { allowed: [], loopback: true, wallets } },
  }
}

/** The header value with which the official client answers a bill, in either version. */
export async function payInvoice(
  client: x402Client,
  requirements: Requirements,
  { version = 2, url = 'https://shop.example/a' }: { version?: 1 | 2; url?: string } = {},
): Promise<string> {
  const { amount, ...terms } = requirements
  const entry =
    version === 2
      ? requirements
      : { ...terms, maxAmountRequired: amount, resource: url, description: '', mimeType: '' }
  const payload = await client.createPaymentPayload({
    x402Version: version,
    resource: { url },
    accepts: [entry as unknown as PaymentRequirements],
  })
  return encodeHeader(payload)
}

/** The official client with our schemes, holding the key of a payer. */
export function evmPayer(evm: EvmFixture, account: PrivateKeyAccount): x402Client {
  const scheme = createEvmClient({
    address: account.address,
    signTypedData: (data) => account.signTypedData(data),
    sendPayment: ({ payTo, amountAtomic }) =>
      sendFrom(evm, account, { to: payTo as Hex, value: amountAtomic, gas: 21_000n }),
  })
  const { network } = evm.network
  return new x402Client()
    .register(network as `${string}:${string}`, scheme)
    .registerV1(network, scheme)
    .setSpendControls(false)
}

export function solanaPayer(solana: SolanaFixture, keypair: Keypair): x402Client {
  const scheme = createSolanaClient({
    address: keypair.publicKey.toBase58(),
    rpcUrl: solana.rpcUrl,
    signPayment: () => Promise.reject(new Error('This payer pays tokens.')),
    async signTransaction(bytes) {
      const transaction = VersionedTransaction.deserialize(bytes)
      transaction.sign([keypair])
      return transaction.serialize()
    },
  })
  const { network } = solana.network
  return new x402Client()
    .register(network as `${string}:${string}`, scheme)
    .registerV1(network, scheme)
    .setSpendControls(false)
}
