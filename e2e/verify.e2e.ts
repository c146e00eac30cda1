import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { encodeHeader } from '#x402/header.ts'
import { giveUsdc } from './chain.ts'
import { connect, expectReviewed, pay, signButton } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { ARTICLE, authorize, ELSEWHERE } from './proofs.ts'
import { randomPrivateKey } from './random.ts'
import { signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

/** A seller looks at proofs before they hand anything over. */

async function paste(page: Page, pasted: string): Promise<void> {
  await page.getByLabel(text('Payment to check')).fill(pasted)
}

async function expectVerdict(page: Page, words: string): Promise<void> {
  await expect(page.getByRole('heading', { name: words })).toBeVisible({ timeout: 45_000 })
}

async function signIn(page: Page): Promise<void> {
  await page.goto('/payments')
  await connect(page, 'MetaMask')
  await page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(page.getByRole('table', { name: textLike('Payments') })).toBeVisible()
  await page.goto('/verify')
}

test('what is pasted is explained before anything is sent, to the field', async ({
  net,
  visitor,
}) => {
  const page = await visitor()
  await page.goto('/verify')
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.url())
  })
  await paste(page, 'curl https://shop.example/')
  await expect(
    page.getByText(text('No X-PAYMENT or PAYMENT-SIGNATURE header found.')),
  ).toBeVisible()
  await expectAccessible(page, 'verify: not a proof')
  await paste(page, encodeHeader({ x402Version: 1, scheme: 'exact', payload: {} }))
  await expect(page.getByText('network:')).toBeVisible()
  const header = await authorize(net, privateKeyToAccount(randomPrivateKey()), 1_000_000n)
  await paste(page, `curl ${ARTICLE} -H 'PAYMENT-SIGNATURE: ${header}'`)
  await expect(page.getByRole('heading', { name: text('Proof') })).toBeVisible()
  await expect(
    page.getByText(text('Keep it secret: anyone can submit an unused proof.')),
  ).toBeVisible()
  await expect(page.getByLabel(text('Expected amount'))).toHaveValue('1')
  await expectAccessible(page, 'verify: proof explained')
  // Of a currency that is not known here, the units and the token's address are what the proof says.
  await paste(page, encodeHeader(ELSEWHERE))
  const { amount, asset } = ELSEWHERE.accepted
  await expect(
    page.getByText(text('{amount} units, unknown currency', { amount }), { exact: true }),
  ).toBeVisible()
  await expect(page.getByText(asset, { exact: true })).toBeVisible()
  expect(sent).toEqual([])
  expect(page.url()).not.toContain(header.slice(0, 20))
})

test('a seller checks a proof, is told what is wrong with it, then accepts it once', async ({
  net,
  chains,
  seller,
}) => {
  const payer = privateKeyToAccount(randomPrivateKey())
  await giveUsdc(chains, net, { address: payer.address, units: 5_000_000n })
  const header = await authorize(net, payer, 1_000_000n)
  const page = await signInByApi(await seller(), net, '/verify')
  await paste(page, header)
  await page.getByLabel(text('Expected amount')).fill('2')
  await page.getByRole('button', { name: text('Check only') }).click()
  await expectVerdict(page, text('Not valid'))
  await expect(page.getByText(text('Wrong amount')).first()).toBeVisible()
  await expectAccessible(page, 'verify: not valid')

  // A question that changes while it is checked gets no verdict of the old one.
  const held = Promise.withResolvers<void>()
  await page.route('**/facilitator/verify', async (route) => {
    await held.promise
    await route.continue()
  })
  const check = page.getByRole('button', { name: text('Check only') })
  await check.click()
  await expect(check).toHaveAttribute('aria-busy', 'true')
  await page.getByLabel(text('Expected amount')).fill('1')
  await expect(check).not.toHaveAttribute('aria-busy')
  const answered = page.waitForResponse('**/facilitator/verify')
  held.resolve()
  await (await answered).finished()
  await expect(page.getByRole('heading', { name: text('Not valid') })).toHaveCount(0)
  await page.unroute('**/facilitator/verify')
  await check.click()
  await expectVerdict(page, text('Valid, not settled yet'))

  await page.getByRole('button', { name: text('Check and accept') }).click()
  await expectVerdict(page, text('Verified and settled'))
  await expectAccessible(page, 'verify: settled')
  await page.getByRole('button', { name: text('Check and accept') }).click()
  await expect(page.getByText(text('Accepted before.'))).toBeVisible({ timeout: 45_000 })
})

test('a payee settles a proof alone, with their own wallet', async ({ net, chains, seller }) => {
  const payer = privateKeyToAccount(randomPrivateKey())
  await giveUsdc(chains, net, { address: payer.address, units: 5_000_000n })
  await chains.anvil.setBalance({
    address: net.wallets.seller.evm.address,
    value: parseEther('10'),
  })
  const header = await authorize(net, payer, 1_000_000n)
  const { page, ethereum } = await seller()
  await signIn(page)
  await paste(page, header)
  await page.getByRole('button', { name: text('Check only') }).click()
  await expectVerdict(page, text('Valid, not settled yet'))
  await page.getByRole('button', { name: text('Prepare the transaction') }).click()
  await expectReviewed(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectVerdict(page, text('Verified and settled'))
  await expect(page.getByRole('heading', { name: text('Collected') })).toBeVisible()
  expect(ethereum.sent).toHaveLength(1)
})

test('many proofs are checked one after another, and their verdicts exported', async ({
  net,
  chains,
  seller,
}) => {
  const payer = privateKeyToAccount(randomPrivateKey())
  await giveUsdc(chains, net, { address: payer.address, units: 5_000_000n })
  const page = await signInByApi(await seller(), net, '/verify')
  await page.getByText(text('Many proofs'), { exact: true }).click()
  const usdc = net.evm.tokens.USDC?.address ?? ''
  await page.getByLabel(text('Currency')).selectOption(usdc)
  await page.getByLabel(text('Expected amount')).fill('1')
  const lines = [
    await authorize(net, payer, 1_000_000n),
    await authorize(net, payer, 2_000_000n),
    'nonsense!',
  ]
  await page.getByRole('textbox', { name: text('Proofs') }).fill(lines.join('\n'))
  await page
    .getByRole('button', {
      name: text('{count, plural, =0 {Check} one {Check # proof} other {Check # proofs}}', {
        count: 3,
      }),
    })
    .click()
  await expect(page.getByText(text('{done} checked', { done: '3' }))).toBeVisible({
    timeout: 45_000,
  })
  await expectAccessible(page, 'verify: many')
  const rows = page.getByRole('table', { name: text('Results') }).getByRole('row')
  await expect(rows.nth(1)).toContainText(text('Valid, not settled yet'))
  await expect(rows.nth(2)).toContainText(text('Not valid'))
  await expect(rows.nth(3)).toContainText(text('Not valid'))
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: text('Export CSV') }).click(),
  ])
  const exported = await readFile(await download.path(), 'utf8')
  expect(exported.split('\r\n')).toHaveLength(5)
  expect(exported).not.toContain(lines[0]?.slice(0, 30))
  await page.getByLabel(text('Expected amount')).fill('2')
  await expect(rows).toHaveCount(0)
})

test('a receipt adds up without any network, and one that was changed does not', async ({
  net,
  buyer,
}) => {
  const { page } = await buyer({ ether: '1' })
  await pay(page, 'MetaMask', onEthereum(net, '0.01'))
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: text('Receipt as JSON') }).click(),
  ])
  const receipt = await readFile(await download.path(), 'utf8')
  await page.goto('/verify')
  await paste(page, receipt)
  await expect(page.getByText(text('Adds up'))).toBeVisible()
  await expectAccessible(page, 'verify: receipt that adds up')
  await page.getByRole('button', { name: text('Ask my RPC endpoint') }).click()
  await expectVerdict(page, text('Verified and settled'))
  await paste(
    page,
    receipt
      .replace('"amountAtomic": "10000000000000000"', '"amountAtomic": "20000000000000000"')
      .replace('"amountAtomic":"10000000000000000"', '"amountAtomic":"20000000000000000"'),
  )
  await expect(page.getByText(text('Does not match'))).toBeVisible()
  await expect(page.locator('[data-verdict]'), 'the verdict of the former receipt').toHaveCount(0)
  await expectAccessible(page, 'verify: receipt that does not')

  // Anybody can write a receipt without bytes, and what it pays for.
  const whole = JSON.parse(receipt)
  const signedByPayer = page.getByText(text('Signed by the payer. Check the transaction.'))
  await paste(page, JSON.stringify({ ...whole, resource: 'https://shop.example/guide' }))
  await expect(page.getByText(text('Payment adds up'))).toBeVisible()
  await expect(signedByPayer).toBeVisible()
  await page.getByRole('button', { name: text('Ask my RPC endpoint') }).click()
  await expectVerdict(page, text('Payment verified'))
  await expect(page.getByText(text('Only the merchant can confirm delivery.'))).toHaveCount(2)
  await paste(page, JSON.stringify({ ...whole, signed: null }))
  await expect(page.getByText(text('Not signed. Ask your RPC endpoint.'))).toBeVisible()
  await expect(signedByPayer).toHaveCount(0)
  await expectAccessible(page, 'verify: receipt without bytes')
  await page.getByRole('button', { name: text('Ask my RPC endpoint') }).click()
  await expectVerdict(page, text('Verified and settled'))
})
