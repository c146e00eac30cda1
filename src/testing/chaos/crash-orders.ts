import { randomUUID } from 'node:crypto'
import { Keypair, PublicKey } from '@solana/web3.js'
import type { Hex } from 'viem'
import type { Family } from '#contract/address.ts'
import type { Asset, Network } from '#contract/network.ts'
import type { Requirements } from '#x402/requirements.ts'
import type { EvmFixture, SolanaFixture } from '../local-chains.ts'
import { balanceOnEvm, balanceOnSolana, createMint, give } from '../local-tokens.ts'
import { accountOf, TOKEN } from '../token-instructions.ts'
import { deployTokens, evmPayer, payInvoice, solanaPayer, type EvmTokens } from '../token-payers.ts'

const ETH = 10n ** 18n
const SOL = 1_000_000_000n
const USDC = 1_500_000n

/** `text`: the body as received. */
export type ServiceResponse = { status: number; text: string }

/** One transfer, requested from a service once, and then again and again until it is done. */
export type CrashOrder = {
  /** The sender of the payment, as stored in the rows. */
  sender: string
  ask: (url: string) => Promise<ServiceResponse>
  /** What the payee has received of it, and should receive, in atomic units. */
  paid: () => Promise<bigint>
  amount: bigint
}

type Chains = { evm: EvmFixture; solana: SolanaFixture }
type Service = {
  /** API key. */
  key: string
  /** A new managed wallet. */
  openWallet: (family: Family) => Promise<string>
}

export type Orders = {
  /** Of both chains, with the token of each. */
  networks: Network[]
  /** The accounts that pay the network fees of settlements. */
  facilitators: string[]
  /** 0.01 of the native currency, from a managed wallet with money. */
  openSend: (family: Family) => Promise<CrashOrder>
  /**
   * What a payer of USDC signs, for the wallet of the service to execute: EIP-3009, or a
   * transaction on Solana with that wallet as its fee payer.
   */
  openSettlement: (family: Family) => Promise<CrashOrder>
}

export async function openOrders({ evm, solana }: Chains, service: Service): Promise<Orders> {
  const tokens = await deployTokens(evm)
  const mint = await createMint(solana)
  const funds = {
    evm: (address: string) => evm.client.setBalance({ address: address as Hex, value: ETH }),
    solana: (address: string) => solana.setAccount(address, { lamports: SOL }),
  }
  async function openFunded(family: Family): Promise<string> {
    const address = await service.openWallet(family)
    await funds[family](address)
    return address
  }
  const sponsors = { evm: await openFunded('evm'), solana: await openFunded('solana') }

  return {
    networks: [tokens.network, { ...solana.network, assets: [...solana.network.assets, mint] }],
    facilitators: Object.values(sponsors),
    async openSend(family) {
      const [walletAddress, payee] = [
        await openFunded(family),
        await openPayee({ evm, solana }, family),
      ]
      const headers = { 'idempotency-key': randomUUID(), prefer: 'respond-async' }
      const body = { walletAddress, recipientAddress: payee.address, amount: 0.01 }
      return {
        sender: walletAddress,
        ask: (url) => post(`${url}/payment/send`, { key: service.key, headers, body }),
        paid: payee.balance,
        amount: (family === 'evm' ? ETH : SOL) / 100n,
      }
    },
    async openSettlement(family) {
      const { payer, payTo, asset, header, paid } = await (family === 'evm'
        ? signOnEvm(evm, tokens)
        : signOnSolana(solana, { mint, sponsor: sponsors.solana }))
      const body = {
        walletAddress: payTo,
        paymentProof: header,
        expectedAmount: 1.5,
        asset,
        timeout: 15,
      }
      return {
        sender: payer,
        ask: (url) => post(`${url}/payment/receive`, { key: service.key, body }),
        paid,
        amount: USDC,
      }
    },
  }
}

async function openPayee(
  { evm, solana }: Chains,
  family: Family,
): Promise<{ address: string; balance: () => Promise<bigint> }> {
  if (family === 'evm') {
    const { address } = await evm.wallet(0n)
    return { address, balance: () => evm.client.getBalance({ address }) }
  }
  const { publicKey } = Keypair.generate()
  return {
    address: publicKey.toBase58(),
    balance: async () => BigInt(await solana.connection.getBalance(publicKey)),
  }
}

type Signed = {
  payer: string
  payTo: string
  asset: string
  header: string
  paid: () => Promise<bigint>
}

const VALID_SECONDS = 600

async function signOnEvm(evm: EvmFixture, { usdc, fund }: EvmTokens): Promise<Signed> {
  const [payer, payee] = [await evm.wallet(ETH), await evm.wallet(0n)]
  await fund(payer.address)
  const extra = { assetTransferMethod: 'eip3009', name: 'USD Coin', version: '2' }
  const header = await payInvoice(
    evmPayer(evm, payer),
    billOf({ network: evm.network.network, asset: usdc, payTo: payee.address, extra }),
  )
  return {
    payer: payer.address,
    payTo: payee.address,
    asset: usdc.address,
    header,
    paid: () => balanceOnEvm(evm, usdc, payee.address),
  }
}

async function signOnSolana(
  solana: SolanaFixture,
  { mint, sponsor }: { mint: Asset; sponsor: string },
): Promise<Signed> {
  const [payer, payee] = [Keypair.generate(), Keypair.generate().publicKey]
  await give(solana, mint, { owner: payer.publicKey, amount: USDC })
  await give(solana, mint, { owner: payee, amount: 0n })
  const bill = billOf({
    network: solana.network.network,
    asset: mint,
    payTo: payee.toBase58(),
    extra: { feePayer: sponsor },
  })
  const header = await payInvoice(solanaPayer(solana, payer), bill)
  const account = accountOf(payee, new PublicKey(mint.address), TOKEN)
  return {
    payer: payer.publicKey.toBase58(),
    payTo: payee.toBase58(),
    asset: mint.address,
    header,
    paid: () => balanceOnSolana(solana, account),
  }
}

function billOf({
  asset,
  ...terms
}: Pick<Requirements, 'network' | 'payTo' | 'extra'> & { asset: Asset }): Requirements {
  return {
    scheme: 'exact',
    amount: USDC.toString(),
    asset: asset.address,
    maxTimeoutSeconds: VALID_SECONDS,
    ...terms,
  }
}

async function post(
  url: string,
  { key, headers, body }: { key: string; headers?: Record<string, string>; body: object },
): Promise<ServiceResponse> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}
