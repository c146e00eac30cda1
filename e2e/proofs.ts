import { expect } from '@playwright/test'
import type { Hex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { authorizationTypedData } from '#chains/evm/token-authorization.ts'
import type { Devnet } from '#devnet/network.ts'
import { encodeHeader } from '#x402/header.ts'
import { giveUsdc, pauseMining, type Chains } from './chain.ts'
import { randomBytes, randomPrivateKey } from './random.ts'

/** What the proofs of stories pay for. */
export const ARTICLE = 'https://shop.example/article'

/** A payer’s proof over USDC, as a client of x402 makes it. */
export async function authorize(
  net: Devnet,
  payer: PrivateKeyAccount,
  units: bigint,
): Promise<string> {
  const token = net.evm.tokens.USDC?.address as Hex
  const to = net.wallets.seller.evm.address
  const now = Math.floor(Date.now() / 1000)
  const nonce: Hex = `0x${Buffer.from(randomBytes(32)).toString('hex')}`
  const message = {
    from: payer.address,
    to,
    value: units,
    validAfter: 0n,
    validBefore: BigInt(now + 900),
    nonce,
  }
  const domain = {
    name: 'USD Coin',
    version: '2',
    chainId: net.evm.chainId,
    verifyingContract: token,
  }
  const signature = await payer.signTypedData(authorizationTypedData({ domain, message }))
  const authorization = {
    ...message,
    value: units.toString(),
    validAfter: '0',
    validBefore: message.validBefore.toString(),
  }
  const accepted = {
    scheme: 'exact',
    network: `eip155:${net.evm.chainId}`,
    amount: units.toString(),
    asset: token,
    payTo: to,
    maxTimeoutSeconds: 900,
    extra: { name: 'USD Coin', version: '2' },
  }
  return encodeHeader({
    x402Version: 2,
    resource: { url: ARTICLE },
    accepted,
    payload: { signature, authorization },
  })
}

/** Has 1 USDC collected for a seller's server that has lost the connection before it is told. */
export async function settleUntold(net: Devnet, chains: Chains): Promise<void> {
  const payer = privateKeyToAccount(randomPrivateKey())
  await giveUsdc(chains, net, { address: payer.address, units: 1_000_000n })
  const paymentPayload = JSON.parse(atob(await authorize(net, payer, 1_000_000n))) as {
    accepted: unknown
  }
  const still = await pauseMining(chains)
  const connection = new AbortController()
  const settlement = fetch(`${net.urls.service}/facilitator/settle`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${net.apiKeys.operator}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      x402Version: 2,
      paymentPayload,
      paymentRequirements: paymentPayload.accepted,
    }),
    signal: connection.signal,
  })
  // The transaction is sent, and no block holds it before the connection has ended.
  await expect
    .poll(() => chains.anvil.getTxpoolStatus().then(({ pending }) => pending), { intervals: [20] })
    .toBeGreaterThan(0)
  connection.abort()
  await expect(settlement).rejects.toThrow('aborted')
  await still[Symbol.asyncDispose]()
}

/** Of a test network that no test runs on; nobody's money hangs on it. */
export const ELSEWHERE = {
  x402Version: 2,
  resource: { url: 'https://journal.example/articles/settlement-without-banks' },
  accepted: {
    scheme: 'exact',
    network: 'eip155:84532',
    amount: '1500000',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    maxTimeoutSeconds: 900,
    extra: { name: 'USDC', version: '2' },
  },
  payload: {
    signature: `0x${'5a'.repeat(64)}1b`,
    authorization: {
      from: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      value: '1500000',
      validAfter: '0',
      validBefore: '1795000000',
      nonce: `0x${'c4'.repeat(32)}`,
    },
  },
}
