import type { Page } from '@playwright/test'
import { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import { erc20Abi, parseEther, type Address, type Hex } from 'viem'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { NATIVE_ETH } from '#contract/network.ts'
import type { Devnet } from '#devnet/network.ts'
import { expectAbsent } from './absent.ts'
import { connect, expectReviewed, sign, signButton } from './checkout.ts'
import { giveUsdc, pauseMining, until } from './chain.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test, type Person } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { downloaded } from './seller.ts'
import { onEthereum } from './orders.ts'
import { startingWith, text } from './text.ts'
import {
  ARTICLES,
  requestArticle,
  buyArticle,
  expectServed,
  paymentOptionIn,
  recordAnnouncements,
  REFUSED,
  SELLER_SENDS,
} from './articles.ts'

/** A person reads pages that cost money: the shop of the local network, paid in each of its currencies and versions. */

/** On paper, what was bought is its receipt: the request, the price and the answer stay on the screen. */
async function expectPrinted(page: Page, facts: readonly string[]): Promise<void> {
  await expect(page.getByRole('heading', { name: startingWith('Paid') })).toBeVisible({
    timeout: 45_000,
  })
  await page.emulateMedia({ media: 'print' })
  for (const name of ['For', 'Date', 'From', 'To', 'Network', 'Transaction'])
    await expect(page.getByRole('term').getByText(text(name), { exact: true })).toBeVisible()
  for (const fact of [...facts, text('Test network')])
    await expect(page.getByRole('main')).toContainText(fact, { useInnerText: true })
  await expect(page.getByRole('heading', { name: startingWith('Paid') })).toBeVisible()
  await expect(page.getByRole('heading', { name: text('Your purchase') })).toBeHidden()
  await expect(page.getByRole('heading', { level: 1 })).toBeHidden()
  await expect(page.getByText(text('New request'))).toBeHidden()
  await expect(page.getByRole('button')).toHaveCount(0)
  const pdf = await page.pdf({ format: 'A4' })
  expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  await page.emulateMedia({ media: null })
}

/** Whose own transfer it was has a file of it, which adds up: only what it was for is the file's word. */
async function expectVerifiable(page: Page): Promise<void> {
  const { text: receipt } = await downloaded(page, () =>
    page.getByRole('button', { name: text('Receipt as JSON') }).click(),
  )
  await page.goto('/verify')
  await page.getByLabel(text('Payment to check')).fill(receipt)
  await expect(page.getByText(text('Payment adds up'))).toBeVisible()
  await expect(page.getByText(text('Signed by the payer. Check the transaction.'))).toBeVisible()
  await page.getByRole('button', { name: text('Ask my RPC endpoint') }).click()
  await expect(page.getByRole('heading', { name: text('Payment verified') })).toBeVisible({
    timeout: 45_000,
  })
}

/** What has the focus. */
const focused = (page: Page) => page.locator(':focus')

/** The permission is on the chain, and the review of the payment itself comes next. */
async function expectPermitted(page: Page): Promise<void> {
  await expect(page.getByText(text('First, allow Permit2 to spend up to'))).toBeHidden({
    timeout: 30_000,
  })
}

for (const version of [2, 1] as const) {
  test(`an article for ETH, version ${version}: one transaction, one free signature`, async ({
    net,
    chains,
    buyer,
    expectError,
  }) => {
    expectError(REFUSED)
    const { page, ethereum } = await buyer({ ether: '1' })
    const before = await chains.evm.getBalance({ address: net.wallets.seller.evm.address })
    await requestArticle(page, `${net.urls.seller}${ARTICLES.eth}`)
    await expect(page.getByRole('heading', { name: text('Payment required') })).toBeVisible()
    await connect(page, 'MetaMask')
    if (version === 2) await expectAccessible(page, 'explore: priced')
    if (version === 1)
      await page
        .getByText(text('x402 version {version}', { version: 1 }))
        .first()
        .click()
    await paymentOptionIn(page, '0.01')
      .first()
      .getByRole('button', { name: text('Review and pay') })
      .click()
    await expectReviewed(page, 'MetaMask')
    if (version === 2) await expectAccessible(page, 'explore: review')
    if (version === 1)
      ethereum.afterBroadcast = async () => {
        ethereum.signing = 'reject'
      }
    await sign(page, 'MetaMask')
    // The proof is asked for by itself; a payer who refused it asks for it again.
    if (version === 1) {
      const again = page.getByRole('button', {
        name: text('Sign with {walletName}', { walletName: 'MetaMask' }),
      })
      await expect(again).toBeVisible({ timeout: 30_000 })
      await expectAccessible(page, 'explore: proof to be signed')
      // Who signs no proof and was refunded ends the reminders all the same.
      await page.getByRole('button', { name: text('I received it or got a refund') }).click()
      await page.getByRole('button', { name: text('Undo') }).click()
      ethereum.signing = 'approve'
      await again.click()
    }
    await expectServed(page)
    if (version === 2) await expectAccessible(page, 'explore: served')

    expect(ethereum.sent).toHaveLength(1)
    expect(ethereum.typed).toEqual(['PaymentProof'])
    expect(
      (await chains.evm.getBalance({ address: net.wallets.seller.evm.address })) - before,
    ).toBe(parseEther('0.01'))
    if (version === 2) {
      await expectPrinted(page, [
        'Settlement without banks',
        '0.01 ETH',
        ethereum.address,
        net.wallets.seller.evm.address,
        ethereum.sent[0] ?? '',
      ])
      await expectVerifiable(page)
    }
  })

  test(`an article for SOL, version ${version}: one signature, the seller sends`, async ({
    net,
    chains,
    buyer,
    expectError,
  }) => {
    expectError(REFUSED)
    const { page, solana } = await buyer({ sol: 2 })
    const seller = new PublicKey(net.wallets.seller.solana.address)
    const before = await chains.solana.getBalance(seller)
    await requestArticle(page, `${net.urls.seller}${ARTICLES.sol}`)
    await connect(page, 'Phantom')
    if (version === 1)
      await page
        .getByText(text('x402 version {version}', { version: 1 }))
        .first()
        .click()
    await paymentOptionIn(page, '0.1')
      .filter({ hasText: SELLER_SENDS })
      .getByRole('button', { name: text('Review and pay') })
      .click()
    await expectReviewed(page, 'Phantom')
    await signButton(page, 'Phantom').click()
    await expectServed(page)

    expect(solana.signed).toHaveLength(1)
    await until(
      async () => (await chains.solana.getBalance(seller)) - before === 100_000_000,
      'the seller’s 0.1 SOL',
    )
    if (version === 2) await expectVerifiable(page)
  })
}

test('an article for USDC: one signature and no gas', async ({
  net,
  chains,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  const { page, ethereum } = await buyer()
  await giveUsdc(chains, net, { address: ethereum.address, units: 5_000_000n })
  await requestArticle(page, `${net.urls.seller}${ARTICLES.usdc}`)
  await connect(page, 'MetaMask')
  await paymentOptionIn(page, 'USDC')
    .first()
    .getByRole('button', { name: text('Review and pay') })
    .click()
  await expectReviewed(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectServed(page)

  expect(ethereum.sent).toEqual([])
  expect(ethereum.typed).toEqual(['TransferWithAuthorization'])
  // The transaction is the seller's: the payer has no signature of it to show in a file.
  await expectPrinted(page, ['1 USDC', ethereum.address, net.wallets.seller.evm.address])
  await expect(page.getByRole('button', { name: text('Print receipt') })).toBeVisible()
  await expect(page.getByRole('button', { name: text('Receipt as JSON') })).toHaveCount(0)
})

test('a purchase in two steps asks to keep the page open until the second, which after a reload is one button in view', async ({
  net,
  chains,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  const { page, ethereum } = await buyer({ ether: '1' })
  await page.setViewportSize({ width: 390, height: 844 })
  await requestArticle(page, `${net.urls.seller}${ARTICLES.eth}`)
  // What is new has the focus.
  await expect(focused(page)).toHaveText(text('Payment required'))
  await page
    .getByRole('button', { name: text('Connect a wallet to pay') })
    .first()
    .click()
  await page
    .getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
    })
    .click()
  await expectReviewed(page, 'MetaMask')
  const keepOpen = page.getByText(text('Keep this page open: one signature follows.'))
  const mayClose = page.getByText(text('You can close this page.'))
  const second = page.getByRole('button', {
    name: text('Sign with {walletName}', { walletName: 'MetaMask' }),
  })
  {
    await using chain = await pauseMining(chains)
    await signButton(page, 'MetaMask').click()
    await expect(page.getByRole('heading', { name: text('On its way') })).toBeVisible()
    await expect(keepOpen).toBeVisible()
    await expect(mayClose).toHaveCount(0)
    await page.reload()
    await expect(keepOpen).toBeVisible()
    await chain.mine()
    await expect(page.getByRole('heading', { name: text('In a block') })).toBeVisible()
    await expect(keepOpen).toBeVisible()
  }
  await expect(second).toBeInViewport({ ratio: 1, timeout: 30_000 })
  await expect(focused(page)).toHaveText(text('Sign the proof'))
  await second.click()
  await expectServed(page)
  await expect(focused(page)).toHaveText(text('Your purchase'))
  expect([ethereum.sent.length, ethereum.typed]).toEqual([1, ['PaymentProof']])
})

test('of the offers of an article, version 1 has those whose networks its clients know', async ({
  net,
  visitor,
  expectError,
}) => {
  expectError(REFUSED)
  const page = await visitor()
  await requestArticle(page, `${net.urls.seller}${ARTICLES.usdc}`)
  const offers = page.getByRole('listitem').filter({ hasText: 'USDC' })
  await expect(offers.filter({ hasText: 'Local Ethereum' })).toHaveCount(1)
  await expect(offers.filter({ hasText: 'Local Solana' })).toHaveCount(1)
  await page
    .getByText(text('x402 version {version}', { version: 1 }))
    .first()
    .click()
  await expect(offers.filter({ hasText: 'Local Solana' })).toHaveCount(1)
  await expect(offers.filter({ hasText: 'Local Ethereum' })).toHaveCount(0)
})

/** Of the devnet's own accounts, the buyer holds tokens of every kind. */
function openBuyer(
  net: Devnet,
  open: (keys: {
    privateKeys: readonly Hex[]
    secretKeys: readonly Uint8Array[]
  }) => Promise<Person>,
): Promise<Person> {
  const { evm, solana } = net.wallets.buyer
  return open({ privateKeys: [evm.privateKey], secretKeys: [bs58.decode(solana.secretKey)] })
}

test('an issue for WETH: one leave for exactly the price, one signature over every field of the permit', async ({
  net,
  chains,
  open,
  expectError,
}) => {
  expectError(REFUSED)
  const { page, ethereum } = await openBuyer(net, open)
  const token = net.evm.tokens.WETH?.address as Address
  const held = () =>
    chains.evm.readContract({
      address: token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [net.wallets.seller.evm.address],
    })
  const allowed = () =>
    chains.evm.readContract({
      address: token,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [net.wallets.buyer.evm.address, PERMIT2],
    })
  const before = await held()
  expect(await allowed()).toBe(0n)

  await requestArticle(page, `${net.urls.seller}/issues/1`)
  await connect(page, 'MetaMask')
  await paymentOptionIn(page, 'WETH')
    .first()
    .getByRole('button', { name: text('Review and pay') })
    .click()
  await expectReviewed(page, 'MetaMask')
  await expect(page.getByText(text('First, allow Permit2 to spend up to'))).toBeVisible()
  await expect(page.getByRole('row', { name: startingWith('Amount') })).toContainText(
    text('up to {money}', { money: '0.025 WETH' }),
  )
  await expect(page.getByRole('row', { name: startingWith('Taken by') })).toContainText(PERMIT2)
  await expectAccessible(page, 'explore: leave for a permit')
  await sign(page, 'MetaMask')

  // The leave is on the chain; the payment itself is reviewed on its own.
  await expectPermitted(page)
  await expectReviewed(page, 'MetaMask')
  await expect(page.getByRole('row', { name: startingWith('Rules of') })).toContainText(PERMIT2)
  await expect(page.getByRole('row', { name: startingWith('To') })).toContainText(
    net.wallets.seller.evm.address,
  )
  await expect(page.getByRole('row', { name: startingWith('Network fee') })).toContainText(
    text('nothing'),
  )
  expect(await allowed()).toBe(parseEther('0.025'))
  await signButton(page, 'MetaMask').click()
  await expectServed(page)

  expect(ethereum.sent).toHaveLength(1)
  expect(ethereum.typed).toEqual(['PermitWitnessTransferFrom'])
  await until(
    async () => (await held()) - before === parseEther('0.025'),
    'the seller’s 0.025 WETH',
  )
  expect(await allowed()).toBe(0n)
})

test('a permission that a reload interrupts is gone on with, not asked for again', async ({
  net,
  open,
  expectError,
}) => {
  expectError(REFUSED)
  const { page, ethereum } = await openBuyer(net, open)
  await requestArticle(page, `${net.urls.seller}/issues/1`)
  await connect(page, 'MetaMask')
  await paymentOptionIn(page, 'WETH')
    .first()
    .getByRole('button', { name: text('Review and pay') })
    .click()
  await expectReviewed(page, 'MetaMask')
  await page.reload()
  await expectReviewed(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectPermitted(page)
  await expectReviewed(page, 'MetaMask')
  await expect(page.getByRole('row', { name: startingWith('Rules of') })).toBeVisible()
  await page.reload()
  await expectReviewed(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectServed(page)
  expect(ethereum.sent).toHaveLength(1)
  expect(ethereum.typed).toHaveLength(1)
})

test('an issue for USDC on Solana: one signature, and the seller pays the network fee', async ({
  net,
  chains,
  open,
  expectError,
}) => {
  expectError(REFUSED)
  const { page, solana } = await openBuyer(net, open)
  const own = new PublicKey(net.wallets.buyer.solana.address)
  const mint = new PublicKey(net.solana.tokens['USDC']?.address ?? '')
  const holdings = async () => {
    const { value } = await chains.solana.getTokenAccountsByOwner(
      new PublicKey(net.wallets.seller.solana.address),
      { mint },
      'confirmed',
    )
    return value.reduce((sum, { account }) => sum + account.data.readBigUInt64LE(64), 0n)
  }
  const [before, lamports] = [await holdings(), await chains.solana.getBalance(own)]
  await requestArticle(page, `${net.urls.seller}/issues/1`)
  await connect(page, 'Phantom')
  await paymentOptionIn(page, 'USDC')
    .filter({ hasText: 'Local Solana' })
    .getByRole('button', { name: text('Review and pay') })
    .click()
  await expectReviewed(page, 'Phantom')
  await expect(page.getByRole('row', { name: startingWith('Network fee') })).toContainText(
    text('nothing'),
  )
  await expect(page.getByRole('row', { name: startingWith('Fee payer') })).not.toContainText(
    own.toBase58(),
  )
  await signButton(page, 'Phantom').click()
  await expectServed(page)
  await expect(page.getByRole('heading', { name: startingWith('Paid') })).toBeVisible({
    timeout: 45_000,
  })

  expect(solana.signed).toHaveLength(1)
  await until(async () => (await holdings()) - before === 2_500_000n, 'the seller’s 2.5 USDC')
  expect(await chains.solana.getBalance(own)).toBe(lamports)
})

test('an article is asked for, reviewed and paid with the keyboard alone', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  const { page, solana } = await buyer({ sol: 2 })
  await page.goto('/explore')
  const press = async (name: string | RegExp) => {
    await tabTo(page.getByRole('button', { name }).first())
    await page.keyboard.press('Enter')
  }
  await tabTo(page.getByLabel(text('URL')))
  await page.keyboard.insertText(`${net.urls.seller}${ARTICLES.sol}`)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: text('Payment required') })).toBeVisible()
  await press(text('New request'))
  await expect(page.getByLabel(text('URL'))).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: text('Payment required') })).toBeVisible()
  await press(text('Connect a wallet to pay'))
  await press(text('Connect {wallet} on {network}', { wallet: 'Phantom', network: 'Solana' }))
  await expectReviewed(page, 'Phantom')
  await tabTo(signButton(page, 'Phantom'))
  await page.keyboard.press('Enter')
  await expectServed(page)
  expect(solana.signed).toHaveLength(1)
})

test('an answer that fails after the payment is asked for again with the same payment, also after a reload', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  expectError(/status of 500/)
  expectError(/status of 40\d .*\/api\/link\/open/)
  const person = await buyer({ sol: 2 })
  const { page, solana } = person
  const announced = await recordAnnouncements(page)
  await buyArticle(person, `${net.urls.seller}${ARTICLES.sol}?demo=error-after-payment`)
  await expect(page.getByRole('heading', { name: text('Paid, not delivered') })).toBeVisible({
    timeout: 45_000,
  })
  await expect(focused(page)).toHaveText(text('Paid, not delivered'))
  await expect(page.getByRole('heading', { name: text('Paid and finalized') })).toBeVisible({
    timeout: 45_000,
  })
  expect(announced).toContain(text('Paid, not delivered'))
  expect(announced.at(-1)).toBe(text('Paid and finalized'))
  await expectAccessible(page, 'explore: server failed after the payment')
  // Every page says that money was spent and nothing received, the merchant's page too.
  const notice = page.getByRole('note').filter({ hasText: text('Paid, not delivered') })
  for (const path of ['/payments', '/settings', '/nowhere', '/pay/111111111111']) {
    await page.goto(path)
    await expect(notice, path).toContainText('0.1')
  }
  await page.goto('/pay')
  await expect(notice).toContainText('0.1')
  await expect(page.getByRole('navigation')).toHaveCount(0)
  await expectAccessible(page, 'checkout: paid, not delivered')
  await page.goto('/')
  await expect(notice).toContainText('0.1')
  await expectAccessible(page, 'overview: paid, not delivered')
  await notice.getByRole('link', { name: text('Continue') }).click()
  const served = Promise.withResolvers<void>()
  await page.route(`${net.urls.seller}/**`, async (route) => {
    await served.promise
    await route.continue()
  })
  // An example has these words, too.
  await page
    .getByRole('button', { name: text('Try again with the same payment'), exact: true })
    .click()
  await expect(focused(page)).toHaveText(text('Sending the payment.'))
  const { host } = new URL(net.urls.seller)
  await expect(page.getByText(text('{host} has not answered yet.', { host }))).toBeVisible()
  served.resolve()
  await expectServed(page)
  await expect(focused(page)).toHaveText(text('Your purchase'))
  expect(announced.at(-1)).toBe(text('Your purchase'))
  expect(solana.signed).toHaveLength(1)
  await page.goto('/')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expectAbsent(notice)
})

test('a price that rose is paid only with the reader’s word, and never while the first payment may still be used', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  const person = await buyer({ sol: 2 })
  const { page, solana } = person
  await buyArticle(person, `${net.urls.seller}${ARTICLES.sol}?demo=price-rises`)
  await expect(page.getByRole('heading', { name: text('Price increased') })).toBeVisible({
    timeout: 45_000,
  })
  await expect(page.getByText(text('Pay again after the first signature expires.'))).toBeVisible()
  await expectAccessible(page, 'explore: price rose')
  await expect(page.getByRole('button', { name: text('Pay the new price') })).toBeHidden()
  expect(solana.signed).toHaveLength(1)
})

test('a server that does not answer is named while the page waits for it', async ({
  net,
  visitor,
}) => {
  const page = await visitor()
  await page.route(`${net.urls.seller}/**`, () => undefined)
  await requestArticle(page, `${net.urls.seller}${ARTICLES.eth}`)
  const { host } = new URL(net.urls.seller)
  await expect(page.getByText(text('{host} has not answered yet.', { host }))).toBeVisible()
})

test('the payer’s own limits hold in the explorer and for a wallet code too', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  const { context, page } = await buyer({ ether: '1' })
  const { network, to } = onEthereum(net, '0.01')
  await context.addInitScript(
    (key) =>
      localStorage.setItem(
        'paydesk.spending-caps',
        JSON.stringify({ [key]: { perPayment: '9000000000000000' } }),
      ),
    `${network}/${NATIVE_ETH.address}`,
  )
  const limit = text('Your limit is {cap} per payment.', { cap: '0.009 ETH' })
  await requestArticle(page, `${net.urls.seller}${ARTICLES.eth}`)
  await connect(page, 'MetaMask')
  const review = paymentOptionIn(page, '0.01')
    .first()
    .getByRole('button', { name: text('Review and pay') })
  await review.click()
  await expect(page.getByRole('alert').filter({ hasText: limit })).toBeVisible()
  await expect(review).toBeVisible()

  await page.goto(`/pay?${new URLSearchParams({ network, to, amount: '0.01' }).toString()}`)
  await page.getByRole('button', { name: text('Pay with a phone') }).click()
  await page.getByText(text('Wallet code'), { exact: true }).click()
  await page.getByRole('button', { name: text('Show the code') }).click()
  await expect(page.getByRole('alert').filter({ hasText: limit })).toBeVisible()
})

test('a request that is still open in the wallet when its tab is closed is named on every page', async ({
  net,
  buyer,
  expectError,
}) => {
  expectError(REFUSED)
  const { context, page, ethereum } = await buyer({ ether: '1' })
  await requestArticle(page, `${net.urls.seller}${ARTICLES.eth}`)
  await connect(page, 'MetaMask')
  await paymentOptionIn(page, '0.01')
    .first()
    .getByRole('button', { name: text('Review and pay') })
    .click()
  await expectReviewed(page, 'MetaMask')
  const asked = Promise.withResolvers<void>()
  ethereum.signing = 'hang'
  ethereum.onApproval = async () => asked.resolve()
  await signButton(page, 'MetaMask').click()
  await asked.promise
  await page.close()
  const next = await context.newPage()
  await next.goto('/')
  const notice = next.getByRole('note').filter({ hasText: text('Payment pending') })
  await expect(notice).toContainText('0.01')
  await notice.getByRole('link', { name: text('Continue') }).click()
  await expect(
    next.getByText(
      `${text('{walletName} did not answer.', { walletName: 'MetaMask' })} ${text('Do not pay again.')}`,
    ),
  ).toBeVisible({ timeout: 45_000 })
})
