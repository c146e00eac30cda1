import type { Page } from '@playwright/test'
import { PublicKey, VersionedTransaction, type Keypair } from '@solana/web3.js'
import { createWalletClient, erc20Abi, http, parseEther, type Address, type Hex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { permitTypedData } from '#chains/evm/token-permit.ts'
import { buildPayment } from '#chains/solana/build.ts'
import { NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import type { Devnet } from '#devnet/network.ts'
import { proveTransfer, proveTxid } from '#testing/proofs.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import { encodeHeader } from '#x402/header.ts'
import { expectAbsent } from './absent.ts'
import { fundSolana, until, type Chains } from './chain.ts'
import { expectPaid, expectReviewed, signButton } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { randomBytes, randomPrivateKey, randomUuid } from './random.ts'
import { signIn } from './seller.ts'
import { startingWith, text, textLike } from './text.ts'

/** A payee alone settles what payers signed, for each kind of proof, and never twice. */

const URL = 'https://shop.example/a'
const LAMPORTS = 20_000_000n

async function checkOnly(page: Page, proof: string): Promise<void> {
  await page.getByLabel(text('Payment to check')).fill(proof)
  await page.getByRole('button', { name: text('Check only') }).click()
}

const collected = (page: Page) =>
  expect(page.getByRole('heading', { name: text('Collected') })).toBeVisible({ timeout: 45_000 })

/**
 * SOL to the seller that the payer signed. `feePayer`: the account that pays the network fee and has
 * yet to sign.
 */
async function signedTransfer(
  net: Devnet,
  chains: Chains,
  { payer, memo, feePayer }: { payer: Keypair; memo: string; feePayer?: string },
): Promise<Uint8Array> {
  const { blockhash } = await chains.solana.getLatestBlockhash('confirmed')
  const parties = {
    sender: payer.publicKey.toBase58(),
    recipient: net.wallets.seller.solana.address,
    ...(feePayer !== undefined && { feePayer }),
  }
  const terms = {
    paymentId: memo,
    network: SOLANA_DEVNET,
    asset: NATIVE_SOL,
    ...parties,
    amountAtomic: LAMPORTS,
  }
  const transaction = VersionedTransaction.deserialize(
    buildPayment({ ...terms, blockhash, unitLimit: 40_000, unitPriceMicroLamports: 1n }),
  )
  transaction.sign([payer])
  return transaction.serialize()
}

/** The devnet's buyer lets Permit2 take WETH, and signs for one payment. */
async function signPermit(net: Devnet, chains: Chains, amount: bigint): Promise<string> {
  const payer = privateKeyToAccount(net.wallets.buyer.evm.privateKey)
  const token = net.evm.tokens.WETH?.address as Address
  const client = createWalletClient({
    account: payer,
    chain: chainOf(net),
    transport: http(net.evm.rpcUrl),
  })
  const hash = await client.writeContract({
    address: token,
    abi: erc20Abi,
    functionName: 'approve',
    args: [PERMIT2, amount],
  })
  await chains.evm.waitForTransactionReceipt({ hash })
  const to = net.wallets.seller.evm.address
  const deadline = BigInt(Math.floor(Date.now() / 1000) + 900)
  const nonce = BigInt(`0x${Buffer.from(randomBytes(16)).toString('hex')}`)
  const permit = {
    chainId: net.evm.chainId,
    verifyingContract: PERMIT2,
    from: payer.address,
    token,
    amount,
    spender: EXACT_PERMIT2_PROXY,
    nonce,
    validAfter: 0n,
    deadline,
    to,
  } as const
  const signature = await payer.signTypedData(permitTypedData(permit))
  const permit2Authorization = {
    from: payer.address,
    permitted: { token, amount: amount.toString() },
    spender: EXACT_PERMIT2_PROXY,
    nonce: nonce.toString(),
    deadline: deadline.toString(),
    witness: { to, validAfter: '0' },
  }
  const terms = {
    scheme: 'exact',
    network: `eip155:${net.evm.chainId}`,
    amount: amount.toString(),
    asset: token,
    payTo: to,
    maxTimeoutSeconds: 900,
  }
  const accepted = { ...terms, extra: { assetTransferMethod: 'permit2' } }
  return encodeHeader({
    x402Version: 2,
    resource: { url: URL },
    accepted,
    payload: { signature, permit2Authorization },
  })
}

/** A payer pays the seller in ether, and proves a payment of the claimed amount. */
async function provePaid(
  net: Devnet,
  chains: Chains,
  { paid, claimed }: { paid: bigint; claimed: bigint },
): Promise<{ payer: PrivateKeyAccount; proof: string }> {
  const payer = privateKeyToAccount(randomPrivateKey())
  await chains.anvil.setBalance({ address: payer.address, value: parseEther('1') })
  const client = createWalletClient({
    account: payer,
    chain: chainOf(net),
    transport: http(net.evm.rpcUrl),
  })
  const payTo = net.wallets.seller.evm.address
  const txRef: Hex = await client.sendTransaction({ to: payTo, value: paid })
  await chains.evm.waitForTransactionReceipt({ hash: txRef })
  return {
    payer,
    proof: await proveTxid({
      payer,
      network: `eip155:${net.evm.chainId}`,
      payTo,
      amount: claimed,
      txRef,
      url: URL,
    }),
  }
}

function chainOf(net: Devnet) {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  return {
    id: net.evm.chainId,
    name: 'local',
    nativeCurrency,
    rpcUrls: { default: { http: [net.evm.rpcUrl] } },
  }
}

test('the payee executes a permit, and a reload in the middle resumes it', async ({
  net,
  chains,
  seller,
}) => {
  test.slow()
  const token = net.evm.tokens.WETH?.address as Address
  const held = () =>
    chains.evm.readContract({
      address: token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [net.wallets.seller.evm.address],
    })
  const amount = parseEther('0.003')
  const before = await held()
  const proof = await signPermit(net, chains, amount)
  const person = await seller()
  const page = await signIn(person, '/payments')
  await page.goto('/verify')
  await checkOnly(page, proof)
  await expect(page.getByRole('heading', { name: text('Valid, not settled yet') })).toBeVisible({
    timeout: 45_000,
  })
  await expectAccessible(page, 'verify: valid, not settled')
  await page.getByRole('button', { name: text('Prepare the transaction') }).click()
  await expectReviewed(page, 'MetaMask')
  await expectAccessible(page, 'verify: review of a settlement')
  await page.reload()
  await expect(page.getByText(text('Settlement not finished'))).toBeVisible()
  await page.getByRole('button', { name: text('Go on') }).click()
  await expectReviewed(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await collected(page)
  await expectAccessible(page, 'verify: collected')
  expect(person.ethereum.sent).toHaveLength(1)
  expect((await held()) - before).toBe(amount)
  // Its outcome is shown once, and nothing is left to resume.
  await page.goto('/verify')
  await expect(page.getByLabel(text('Payment to check'))).toBeVisible()
  await expectAbsent(page.getByText(text('Settlement not finished')))
})

test('a settlement that was left stands in the overview until it is finished, and leads back to where it was', async ({
  net,
  chains,
  seller,
}) => {
  test.slow()
  const proof = await signPermit(net, chains, parseEther('0.004'))
  const person = await seller()
  const page = await signIn(person, '/payments')
  await page.goto('/verify')
  await checkOnly(page, proof)
  await page
    .getByRole('button', { name: text('Prepare the transaction') })
    .click({ timeout: 45_000 })
  await expectReviewed(page, 'MetaMask')

  await page.goto('/')
  const inbox = page.getByRole('listitem').filter({ hasText: text('Settlement not finished') })
  await expect(inbox).toContainText(textLike('Settle it before it expires.'))
  await expectAccessible(page, 'overview: something to look at')
  await inbox.getByRole('link', { name: text('Go on') }).click()
  await expectReviewed(page, 'MetaMask')
  expect(person.ethereum.sent).toEqual([])
  await signButton(page, 'MetaMask').click()
  await collected(page)

  await page.goto('/')
  await expect(page.getByRole('heading', { name: text('Latest payments') })).toBeVisible()
  await expectAbsent(inbox)
})

test('a transfer that names the payee for the network fee is co-signed, with the keyboard alone', async ({
  net,
  chains,
  seller,
}) => {
  const payer = await fundSolana(chains, 1)
  const own = net.wallets.seller.solana.address
  const memo = `order-${randomUuid()}`
  const terms = { network: SOLANA_DEVNET, payTo: own, lamports: LAMPORTS, memo, url: URL }
  const proof = proveTransfer(
    terms,
    await signedTransfer(net, chains, { payer, memo, feePayer: own }),
  )
  const person = await seller()
  const page = await signIn(person, '/payments')
  await page.goto('/verify')
  await tabTo(page.getByLabel(text('Payment to check')))
  await page.keyboard.insertText(proof)
  await tabTo(page.getByRole('button', { name: text('Check only') }))
  await page.keyboard.press('Enter')
  await expect(page.getByText(text('Prepare the settlement below.'))).toBeVisible({
    timeout: 45_000,
  })
  for (const name of [
    text('Connect the receiving wallet'),
    text('Connect {wallet} on {network}', { wallet: 'Phantom', network: 'Solana' }),
    text('Prepare the transaction'),
  ]) {
    await tabTo(page.getByRole('button', { name }))
    await page.keyboard.press('Enter')
  }
  await expectReviewed(page, 'Phantom')
  await expect(page.getByRole('row', { name: startingWith('Fee payer') })).toContainText(own)
  await tabTo(signButton(page, 'Phantom'))
  await page.keyboard.press('Enter')
  await collected(page)
  // The proof names no transaction; this page knows the one it became.
  await expect(page.getByRole('heading', { name: text('Verified and settled') })).toBeVisible({
    timeout: 30_000,
  })
  expect(person.solana.signed).toHaveLength(1)
  expect(await chains.solana.getBalance(payer.publicKey)).toBe(1_000_000_000 - Number(LAMPORTS))
})

test('what the payer signed wholly is only sent: nobody is asked to sign', async ({
  net,
  chains,
  seller,
}) => {
  const payer = await fundSolana(chains, 1)
  const memo = `order-${randomUuid()}`
  const terms = {
    network: SOLANA_DEVNET,
    payTo: net.wallets.seller.solana.address,
    lamports: LAMPORTS,
    memo,
    url: URL,
  }
  const before = await chains.solana.getBalance(new PublicKey(terms.payTo))
  const proof = proveTransfer(terms, await signedTransfer(net, chains, { payer, memo }))
  const person = await seller()
  const page = await signIn(person, '/payments')
  await page.goto('/verify')
  await checkOnly(page, proof)
  await page
    .getByRole('button', { name: text('Prepare the transaction') })
    .click({ timeout: 45_000 })
  await page.getByRole('button', { name: text('Send it') }).click({ timeout: 30_000 })
  await collected(page)
  expect(person.solana.requests).not.toContain('signTransaction')
  await until(
    async () =>
      (await chains.solana.getBalance(new PublicKey(terms.payTo))) - before === Number(LAMPORTS),
    'the seller’s SOL',
  )
})

test('a payment that is on the chain is acknowledged there, if the payee likes', async ({
  net,
  chains,
  seller,
}) => {
  const { payer, proof } = await provePaid(net, chains, {
    paid: parseEther('0.002'),
    claimed: parseEther('0.002'),
  })
  const person = await seller()
  const page = await signIn(person, '/payments')
  await page.goto('/verify')
  await checkOnly(page, proof)
  await expect(page.getByRole('heading', { name: text('Verified and settled') })).toBeVisible({
    timeout: 45_000,
  })
  await page.getByRole('button', { name: text('Prepare the receipt') }).click()
  await expectReviewed(page, 'MetaMask')
  await expect(page.getByRole('row', { name: startingWith('Memo') })).toContainText(
    'x402-receipt:pay_',
  )
  await signButton(page, 'MetaMask').click()
  await expect(page.getByRole('heading', { name: text('Acknowledged') })).toBeVisible({
    timeout: 45_000,
  })
  const [hash = '0x'] = person.ethereum.sent
  const { to, value } = await chains.evm.getTransaction({ hash })
  expect([to?.toLowerCase(), value]).toEqual([payer.address.toLowerCase(), 0n])
})

test('money in another amount stays in the overview until it was refunded', async ({
  net,
  chains,
  seller,
}) => {
  test.slow()
  const { payer, proof } = await provePaid(net, chains, {
    paid: parseEther('0.002'),
    claimed: parseEther('0.003'),
  })
  const person = await seller()
  const page = await signIn(person, '/payments')
  await page.goto('/verify')
  await checkOnly(page, proof)
  await expect(page.getByRole('heading', { name: text('Not valid') })).toBeVisible({
    timeout: 45_000,
  })
  await expect(page.getByText(text('Arrived. Finish it in your overview.'))).toBeVisible()
  await expectAccessible(page, 'verify: other amount')

  await page.goto('/')
  const inbox = page.getByRole('listitem').filter({ hasText: text('Underpaid') })
  await expect(inbox).toContainText('0.002')
  await inbox.getByRole('button', { name: text('Dealt with') }).click()
  await expect(inbox).toHaveCount(0)
  await page.getByRole('button', { name: text('Undo') }).click()
  await inbox.getByRole('link', { name: text('Refund') }).click()
  await expect(page.getByLabel(text('Amount'))).toHaveValue('0.002')
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expectReviewed(page, 'MetaMask')
  const before = await chains.evm.getBalance({ address: payer.address })
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  expect((await chains.evm.getBalance({ address: payer.address })) - before).toBe(
    parseEther('0.002'),
  )

  await page.goto('/')
  await expect(page.getByRole('heading', { name: text('Latest payments') })).toBeVisible()
  await expectAbsent(inbox)
})
