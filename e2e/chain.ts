import { Connection, type Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js'
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  erc20Abi,
  getAddress,
  http,
  parseEther,
  type Address,
  type Hash,
  type Hex,
  type PublicClient,
  type TestClient,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Devnet } from '#devnet/network.ts'
import { randomKeypair, randomPrivateKey } from './random.ts'

/** What the tests ask and do on the two chains directly, bypassing our programs. */
export type Chains = { evm: PublicClient; anvil: TestClient; solana: Connection }

export function openChains(net: Pick<Devnet, 'evm' | 'solana'>): Chains {
  return {
    evm: createPublicClient({ transport: http(net.evm.rpcUrl), pollingInterval: 200 }),
    anvil: createTestClient({ mode: 'anvil', transport: http(net.evm.rpcUrl) }),
    solana: new Connection(net.solana.rpcUrl, {
      commitment: 'confirmed',
      wsEndpoint: net.solana.wsUrl,
    }),
  }
}

/** A new account with this much ether. */
export async function fundEthereum(
  { anvil }: Chains,
  ether: string,
): Promise<{ address: Address; privateKey: Hex }> {
  const privateKey = randomPrivateKey()
  const { address } = privateKeyToAccount(privateKey)
  await anvil.setBalance({ address, value: parseEther(ether) })
  return { address, privateKey }
}

/** A new account with this much SOL. */
export async function fundSolana({ solana }: Chains, sol: number): Promise<Keypair> {
  const account = randomKeypair()
  if (sol === 0) return account
  await solana.requestAirdrop(account.publicKey, sol * LAMPORTS_PER_SOL)
  await until(
    async () => (await solana.getBalance(account.publicKey)) === sol * LAMPORTS_PER_SOL,
    'the airdrop',
  )
  return account
}

/** Number of transactions this account has sent, by its nonce. */
export function countSent({ evm }: Chains, address: Address): Promise<number> {
  return evm.getTransactionCount({ address })
}

/** Signatures of the successful transactions of this account. */
export async function signaturesOf({ solana }: Chains, account: PublicKey): Promise<string[]> {
  const found = await solana.getSignaturesForAddress(account)
  return found.filter(({ err }) => err === null).map(({ signature }) => signature)
}

export async function transferOf(
  { evm }: Chains,
  hash: Hash,
): Promise<{ from: Address; to: Address | null; value: bigint; status: string }> {
  const { from, to, value } = await evm.getTransaction({ hash })
  const { status } = await evm.waitForTransactionReceipt({ hash, timeout: 15_000 })
  return { from: getAddress(from), to: to && getAddress(to), value, status }
}

/** Polls until it is true; on timeout the error says what it waited for. */
export async function until(
  holds: () => Promise<boolean>,
  what: string,
  timeoutMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/**
 * Installs a program at the address of mainnet's Lighthouse, which the embedded chain lacks. It is
 * the memo program's code: it accepts any text, so a guard's assertion is not tested, only that a
 * payment with one lands.
 */
export async function installGuardProgram({ solana }: Chains, guard: string): Promise<void> {
  const memo = await solana.getAccountInfo(
    new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
  )
  if (!memo) throw new Error('The embedded chain has no memo program.')
  const account = {
    lamports: memo.lamports,
    executable: true,
    owner: memo.owner.toBase58(),
    data: memo.data.toString('hex'),
  }
  const request = { jsonrpc: '2.0', id: 1, method: 'surfnet_setAccount', params: [guard, account] }
  const response = await fetch(solana.rpcEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  if (!response.ok) throw new Error(`The guard program could not be installed: ${response.status}`)
}

/** Sends USDC of the demo buyer's to an account, in a separate transaction. */
export async function giveUsdc(
  { evm }: Chains,
  net: Pick<Devnet, 'evm' | 'wallets'>,
  to: { address: Address; units: bigint },
): Promise<void> {
  const chain = {
    id: net.evm.chainId,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [net.evm.rpcUrl] } },
  }
  const client = createWalletClient({
    account: privateKeyToAccount(net.wallets.buyer.evm.privateKey),
    chain,
    transport: http(net.evm.rpcUrl),
  })
  const token = net.evm.tokens.USDC?.address as Address
  const hash = await client.writeContract({
    address: token,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to.address, to.units],
  })
  const { status } = await evm.waitForTransactionReceipt({ hash, timeout: 15_000 })
  if (status !== 'success') throw new Error('The USDC did not arrive.')
}

export type StillChain = {
  mine: () => Promise<void>
  takeBack: (blocks: number) => Promise<void>
  [Symbol.asyncDispose]: () => Promise<void>
}

/** Ethereum mines no block by itself until this is disposed. */
export async function pauseMining({ anvil, evm }: Chains): Promise<StillChain> {
  await anvil.setIntervalMining({ interval: 0 })
  return {
    mine: () => anvil.mine({ blocks: 1 }),
    takeBack: (blocks) =>
      evm.request({ method: 'anvil_reorg' as never, params: [blocks, []] as never }),
    [Symbol.asyncDispose]: () => anvil.setIntervalMining({ interval: 1 }),
  }
}
