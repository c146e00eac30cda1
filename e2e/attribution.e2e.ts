import type { Page } from '@playwright/test'
import type { Devnet } from '#devnet/network.ts'
import { countSent, pauseMining, until, type Chains } from './chain.ts'
import { connectOnForm, openCheckout, review, signButton } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test, type Person } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { onEthereum } from './orders.ts'
import { randomUuid } from './random.ts'
import { signIn } from './seller.ts'
import { oneOf, text, textLike } from './text.ts'

/**
 * No matter what the wallet and the payer do: one confirmed payment, for the order that was paid.
 */

const ASKED = text('Confirm this payment is yours')
const UNCONFIRMED = 'Sent, one signature missing'

type Row = { paymentId: string; status: string }

/** The payments from a payer in the merchant's ledger. */
async function paymentsFrom(net: Devnet, sender: string): Promise<Row[]> {
  const answer = await fetch(`${net.urls.service}/payments?wallets=${sender}`, {
    headers: { Authorization: `Bearer ${net.apiKeys.operator}` },
  })
  return ((await answer.json()) as { payments: Row[] }).payments
}

async function expectOnePayment(
  { net, chains }: { net: Devnet; chains: Chains },
  { page, ethereum }: Person,
  paymentId: string,
): Promise<void> {
  const confirmed = async () =>
    (await paymentsFrom(net, ethereum.address)).filter(
      ({ status }) => status === 'confirmed' || status === 'finalized',
    )
  await until(async () => (await confirmed()).length > 0, 'the confirmed payment', 30_000)
  expect((await confirmed()).map((row) => row.paymentId)).toEqual([paymentId])
  expect(await countSent(chains, ethereum.address)).toBe(1)
  await expect(page.getByRole('heading', { name: text('Payment complete') })).toBeVisible({
    timeout: 30_000,
  })
  await expect(page.getByRole('heading', { name: ASKED })).toHaveCount(0)
}

async function paymentIdOn(page: Page): Promise<string> {
  const id = await page
    .getByText(/^pay_[1-9A-HJ-NP-Za-km-z]{22}$/)
    .last()
    .innerText()
  return id
}

/** Another visitor built the very same payment earlier: it must stay unpaid. */
async function plantTwin(
  net: Devnet,
  chains: Chains,
  { ethereum }: Person,
  amount: string,
): Promise<void> {
  const web = net.urls.web
  const body = JSON.stringify({
    walletAddress: ethereum.address,
    recipientAddress: net.wallets.seller.evm.address,
    amount: Number(amount),
  })
  const headers = {
    origin: web,
    'content-type': 'application/json',
    'x-requested-by': 'paydesk',
    'idempotency-key': randomUuid(),
  }
  const answer = await fetch(`${net.urls.bff}/api/transaction/send`, {
    method: 'POST',
    headers,
    body,
  })
  expect(answer.status, await answer.text()).toBe(200)
  await chains.anvil.mine({ blocks: 1 })
}

async function reviewed(
  person: Person,
  net: Devnet,
  {
    amount,
    signedIn,
    ...texts
  }: { amount: string; signedIn: boolean; description?: string; reference?: string },
): Promise<Page> {
  const { page } = person
  if (signedIn) await signIn(person)
  await openCheckout(page, { ...onEthereum(net, amount), ...texts })
  if (!signedIn) await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  return page
}

for (const signedIn of [false, true]) {
  const who = signedIn ? 'a signed-in payer' : 'an anonymous payer'

  test(`${who} whose wallet keeps the fees pays without another prompt`, async ({
    net,
    chains,
    buyer,
  }) => {
    const person = await buyer({ ether: '1' })
    await plantTwin(net, chains, person, '0.0161')
    const page = await reviewed(person, net, { amount: '0.0161', signedIn })
    await signButton(page, 'MetaMask').click()
    await expect(page.getByRole('heading', { name: text('Payment complete') })).toBeVisible({
      timeout: 30_000,
    })
    await expectOnePayment({ net, chains }, person, await paymentIdOn(page))
    expect(person.ethereum.typed).toEqual([])
  })

  test(`${who} whose wallet replaces the fees ${signedIn ? 'pays without another prompt' : 'signs once that the payment is theirs'}`, async ({
    net,
    chains,
    buyer,
  }) => {
    const person = await buyer({ ether: '1' })
    const { ethereum } = person
    ethereum.fees = 'replace'
    await plantTwin(net, chains, person, '0.0162')
    const page = await reviewed(person, net, { amount: '0.0162', signedIn })
    await signButton(page, 'MetaMask').click()
    if (!signedIn) {
      await expect(page.getByRole('heading', { name: ASKED })).toBeVisible({ timeout: 30_000 })
      await expect(page.getByText(text('Your wallet changed the fee.'))).toBeVisible()
      await expect(page.getByRole('heading', { name: UNCONFIRMED })).toBeVisible()
      await expectAccessible(page, 'checkout: sent, to be confirmed as the payer’s')
      await page
        .getByRole('button', {
          name: text('Confirm with {walletName}', { walletName: 'MetaMask' }),
        })
        .click()
    }
    await expect(page.getByRole('heading', { name: text('Payment complete') })).toBeVisible({
      timeout: 30_000,
    })
    await expectOnePayment({ net, chains }, person, await paymentIdOn(page))
    expect(ethereum.typed).toEqual(signedIn ? [] : ['PaymentEvidence'])
  })

  test(`${who} who speeds the payment up in the wallet pays once`, async ({
    net,
    chains,
    buyer,
  }) => {
    const person = await buyer({ ether: '1' })
    const { ethereum } = person
    await plantTwin(net, chains, person, '0.0163')
    const page = await reviewed(person, net, { amount: '0.0163', signedIn })
    await using still = await pauseMining(chains)
    await signButton(page, 'MetaMask').click()
    await expect(page.getByRole('heading', { name: text('On its way') })).toBeVisible()
    // The service has recognised the first transaction by its fees: from here on its nonce
    // identifies the order.
    await until(
      async () =>
        (await paymentsFrom(net, ethereum.address)).some(({ status }) => status === 'pending'),
      'the recognised transaction',
    )
    const faster = await ethereum.speedUp()
    await still.mine()
    await still.mine()
    await still.mine()
    await expect(page.getByRole('heading', { name: text('Payment complete') })).toBeVisible({
      timeout: 30_000,
    })
    await expectOnePayment({ net, chains }, person, await paymentIdOn(page))
    await page.getByRole('button', { name: text('Details') }).click()
    await expect(page.getByText(faster.slice(-4)).first()).toBeVisible()
    expect(ethereum.typed).toEqual([])
  })

  test(`${who} who closes the tab after broadcasting finds one payment on the next visit`, async ({
    net,
    chains,
    buyer,
  }) => {
    const person = await buyer({ ether: '1' })
    const { context, ethereum } = person
    ethereum.fees = 'replace'
    await plantTwin(net, chains, person, '0.0164')
    const page = await reviewed(person, net, { amount: '0.0164', signedIn })
    ethereum.afterBroadcast = () => page.close()
    await signButton(page, 'MetaMask')
      .click({ noWaitAfter: true })
      .catch(() => undefined)
    await until(
      async () => (await countSent(chains, ethereum.address)) === 1,
      'the payment on the chain',
    )

    const back = await context.newPage()
    await back.goto('/pay')
    await back.getByRole('link', { name: text('Continue') }).click()
    if (!signedIn) {
      await expect(back.getByRole('heading', { name: ASKED })).toBeVisible({ timeout: 30_000 })
      await back
        .getByRole('button', {
          name: text('Confirm with {walletName}', { walletName: 'MetaMask' }),
        })
        .click()
    }
    await expect(back.getByRole('heading', { name: text('Payment complete') })).toBeVisible({
      timeout: 30_000,
    })
    await expectOnePayment({ net, chains }, { ...person, page: back }, await paymentIdOn(back))
  })
}

test('a payer who refuses the signature has sent and not failed, and signs later by keyboard', async ({
  net,
  chains,
  buyer,
}) => {
  const person = await buyer({ ether: '1' })
  const { ethereum } = person
  ethereum.fees = 'replace'
  const page = await reviewed(person, net, { amount: '0.0165', signedIn: false })
  await signButton(page, 'MetaMask').click()
  const confirm = page.getByRole('button', {
    name: text('Confirm with {walletName}', { walletName: 'MetaMask' }),
  })
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(confirm).toBeInViewport({ ratio: 1, timeout: 30_000 })
  ethereum.signing = 'reject'
  await confirm.click()
  await expect(page.getByRole('heading', { name: text('Not confirmed as yours') })).toBeVisible()
  await expect(page.getByRole('heading', { name: UNCONFIRMED })).toBeVisible()
  await expect(page.getByText(/failed|nothing was sent/i)).toHaveCount(0)
  await expectAccessible(page, 'checkout: confirmed as the payer’s later')

  await page.goto('/pay')
  // Blocks may have confirmed it since, or not.
  await expect(
    page.getByText(oneOf(['Confirm this payment is yours', 'A payment is still open'])),
  ).toBeVisible()
  await page.getByRole('link', { name: text('Continue') }).click()
  await expect(confirm).toBeVisible({ timeout: 30_000 })
  ethereum.signing = 'approve'
  await tabTo(confirm)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: text('Payment complete') })).toBeVisible({
    timeout: 30_000,
  })
  await expectOnePayment({ net, chains }, person, await paymentIdOn(page))
})

test('the payee sees that nobody’s word is behind a payment, and the payer signs on the page whose link they are sent', async ({
  net,
  buyer,
  seller,
}) => {
  const person = await buyer({ ether: '1' })
  const { page, ethereum } = person
  ethereum.fees = 'replace'
  const texts = { description: 'Winter tea', reference: 'ORD-66' }
  await reviewed(person, net, { amount: '0.0166', signedIn: false, ...texts })
  await signButton(page, 'MetaMask').click()
  await expect(page.getByRole('heading', { name: ASKED })).toBeVisible({ timeout: 30_000 })
  const paymentId = await paymentIdOn(page)

  const shop = await seller()
  await signIn(shop, '/payments')
  await shop.page.goto(`/payments/${paymentId}`)
  await expect(shop.page.getByText(text('Payment received, payer unknown'))).toBeVisible({
    timeout: 30_000,
  })
  await expect(shop.page.getByRole('button', { name: text('Copy link') })).toBeVisible()
  await expectAccessible(shop.page, 'payment: arrived without its payer’s word')

  await shop.page.goto('/')
  await shop.page
    .getByText(
      text(
        '{unassigned, plural, one {# payment received without an order} other {# payments received without an order}}',
        {
          unassigned: 1,
        },
      ),
    )
    .waitFor()
  await shop.page.goto('/?show=unmatched')
  const assign = shop.page.getByRole('button', { name: text('Assign'), exact: true })
  await expect(shop.page.getByRole('heading', { name: '0.0166 ETH' })).toBeVisible()
  const matching = shop.page.getByRole('listitem').filter({
    has: shop.page.getByRole('button', { name: text('Copy signing link') }),
  })
  const order = matching.last()
  await expect(order).toContainText('Winter tea · ORD-66')
  // Whole, so that two orders of one amount are told apart.
  await expect(order).toContainText(paymentId)
  await expect(order).toContainText('0.0166 ETH')
  await expectAccessible(shop.page, 'unmatched: to be matched')
  await assign.click()
  const dialog = shop.page.getByRole('dialog', { name: text('Assign') })
  await expect(dialog.getByText(text('The order stays unpaid. You can undo this.'))).toBeVisible()
  await expect(dialog.getByText('ORD-66', { exact: true })).toBeVisible()
  await expectAccessible(shop.page, 'unmatched: to be assigned')
  await dialog.getByRole('button', { name: text('Assign'), exact: true }).click()
  const undo = shop.page.getByRole('button', { name: text('Undo') })
  // A notice under the pointer stays, however long the check takes.
  await undo.hover()
  await expectAccessible(shop.page, 'unmatched: assigned')
  await undo.click()
  await expect(assign).toBeVisible()

  await shop.page.goto(`/payments/${paymentId}`)
  const unknown = shop.page.getByText(text('Payment received, payer unknown'))
  await expect(unknown).toBeVisible()
  await page.goto(`/payments/${paymentId}`)
  await expect(page.getByRole('heading', { name: ASKED })).toBeVisible({ timeout: 30_000 })
  await expectAccessible(page, 'payment: asked of its payer')
  await page
    .getByRole('button', { name: text('Confirm with {walletName}', { walletName: 'MetaMask' }) })
    .click()
  await expect(
    page.getByRole('heading', {
      name: textLike('Payment of {amount}, {state}', { amount: '0.0166 ETH' }),
    }),
  ).toBeVisible({ timeout: 30_000 })
  // The payee's page follows.
  await expect(unknown).toHaveCount(0)
  await shop.page.goto('/?show=unmatched')
  // The list is read again every 30 seconds.
  await expect(shop.page.getByText(text('All done'))).toBeVisible({ timeout: 45_000 })
  await expectAccessible(shop.page, 'unmatched: none')
})
