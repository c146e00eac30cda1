import { PublicKey } from '@solana/web3.js'
import { parseEther } from 'viem'
import { installGuardProgram, signaturesOf, transferOf, until, countSent } from './chain.ts'
import {
  connectOnForm,
  expectPaid,
  expectReviewed,
  openCheckout,
  pay,
  review,
  signButton,
} from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { onEthereum, onSolana } from './orders.ts'
import { startingWith, text } from './text.ts'
import { LIGHTHOUSE } from './wallets/solana.ts'

// With the animations that most buyers see; the other stories save their cost.
test.use({ contextOptions: { reducedMotion: 'no-preference' } })

test('a buyer pays 0.01 ETH and the seller has it', async ({ net, chains, buyer }) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  const seller = net.wallets.seller.evm.address
  const before = await chains.evm.getBalance({ address: seller })

  await page.goto('/pay')
  // A customer sees the merchant's page, without the dashboard.
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Paydesk')
  await expect(page.getByRole('navigation')).toHaveCount(0)
  await page.getByLabel(text('Network')).selectOption({
    value: net.networks.find(({ network }) => network.startsWith('eip155:'))?.network ?? '',
  })
  const to = page.getByLabel(text('To'), { exact: true })
  await expect(to).toHaveValue(seller)
  await expect(to).not.toBeEditable()
  await page.getByLabel(text('Amount')).fill('0.01')
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await expect(
    page.getByRole('row', { name: startingWith('To') }).filter({ hasText: seller }),
  ).toBeVisible()
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)

  const [hash] = ethereum.sent
  expect(ethereum.sent).toHaveLength(1)
  expect(await transferOf(chains, hash ?? '0x')).toEqual({
    from: ethereum.address,
    to: seller,
    value: parseEther('0.01'),
    status: 'success',
  })
  expect((await chains.evm.getBalance({ address: seller })) - before).toBe(parseEther('0.01'))
  await page.getByRole('button', { name: text('Details') }).click()
  await expect(page.getByText(hash?.slice(-4) ?? 'no hash').first()).toBeVisible()
})

test('a buyer pays 0.1 SOL and the seller has it', async ({ net, chains, buyer }) => {
  const { page, solana } = await buyer({ sol: 2 })
  const seller = new PublicKey(net.wallets.seller.solana.address)
  const before = await chains.solana.getBalance(seller)

  await pay(page, 'Phantom', onSolana(net, '0.1'))

  expect(solana.signed).toHaveLength(1)
  expect(solana.chains).toEqual(['solana:devnet'])
  await until(
    async () => (await chains.solana.getBalance(seller)) - before === 100_000_000,
    'the seller’s 0.1 SOL',
  )
  expect((await signaturesOf(chains, new PublicKey(solana.address))).length).toBe(2)
})

test('the guards Phantom adds to what it signs are no reason to refuse', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, solana } = await buyer({ sol: 2 })
  await installGuardProgram(chains, LIGHTHOUSE.toBase58())
  solana.addGuards = true

  await pay(page, 'Phantom', onSolana(net, '0.1'))

  expect(solana.signed).toHaveLength(1)
  const programs = solana.signed[0]?.message.staticAccountKeys.map((key) => key.toBase58())
  expect(programs).toContain(LIGHTHOUSE.toBase58())
  expect(await signaturesOf(chains, new PublicKey(solana.address))).toHaveLength(2)
})

test('the details of a payment are kept: resource, description, reference and a fee of one’s own', async ({
  net,
  buyer,
}) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  await openCheckout(page, onEthereum(net, '0.01'))
  await page.getByText(text('More options')).click()
  await page.getByText(text('Description and reference')).click()
  await page.getByLabel(text('Resource')).fill('https://example.org/article')
  await page.getByLabel(text('Description')).fill('One article')
  await page.getByLabel(text('Reference')).fill('order-17')
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)

  await page.getByRole('link', { name: text('Show the payment') }).click()
  await expect(page.getByRole('definition').getByText('order-17')).toBeVisible()
  await expect(page.getByText(text('Matches the service’s record.'))).toBeVisible({
    timeout: 30_000,
  })
  expect(ethereum.sent).toHaveLength(1)
})

test('the merchant’s logo and colour are on the checkout, and can be read in both themes', async ({
  visitor,
}) => {
  const page = await visitor()
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNIc1H6DwADrAHMp2r22QAAAABJRU5ErkJggg=='
  await page.route('**/api/config', async (route) => {
    const response = await route.fetch()
    const config = (await response.json()) as Record<string, unknown>
    // A yellow on which no text could be read.
    const brand = { logo: `data:image/png;base64,${pixel}`, accentColor: '#ffcc00' }
    await route.fulfill({ response, json: { ...config, ...brand } })
  })
  await page.goto('/pay')
  const pay = page.getByRole('button', { name: text('Connect a wallet to pay') })
  await expect(pay).toBeVisible()
  await expect(page.locator('header img')).toHaveJSProperty('naturalWidth', 1)
  const [red = 0, green = 0, blue = 0] = await pay.evaluate((element) =>
    (getComputedStyle(element).backgroundColor.match(/\d+/g) ?? []).map(Number),
  )
  expect(red > 2 * blue && green > 2 * blue).toBe(true)
  await expectAccessible(page, 'checkout: logo and colour of the merchant')
})

test('the amount is asked for first, then for what and to whom', async ({ visitor }) => {
  const page = await visitor()
  await page.goto('/pay')
  const asked = [text('Amount'), text('Currency'), text('Network'), text('To')]
  for (const name of asked) await expect(page.getByLabel(name, { exact: true })).toBeVisible()
  await page.getByLabel(text('Amount')).focus()
  for (const name of asked.slice(1)) await tabTo(page.getByLabel(name, { exact: true }))
  const tops = await Promise.all(
    asked.map(async (name) => (await page.getByLabel(name, { exact: true }).boundingBox())?.y ?? 0),
  )
  expect(tops).toEqual(tops.toSorted((one, other) => one - other))
})

test('the owner of the merchant’s wallet is not asked to pay it, and a buyer is', async ({
  net,
  seller,
  buyer,
}) => {
  const own = net.wallets.seller.evm.address
  const { page } = await seller()
  await page.goto('/pay')
  const to = page.getByLabel(text('To'), { exact: true })
  await expect(to).toHaveValue(own)
  await connectOnForm(page, 'MetaMask')
  await expect(to).toHaveValue('')
  await expect(page.getByRole('list', { name: text('Addresses you know') })).toHaveCount(0)
  await to.fill(own)
  await expect(page.getByText(text('This is your paying wallet.'))).toBeVisible()
  await expectAccessible(page, 'checkout: paying oneself')
  await page.getByLabel(text('Amount')).fill('0.01')
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expect(to).toBeFocused()
  await expect(page).toHaveURL(/\/pay$/)

  const person = await buyer({ ether: '1' })
  await person.page.goto('/pay')
  await connectOnForm(person.page, 'MetaMask')
  const payee = person.page.getByLabel(text('To'), { exact: true })
  await expect(payee).toHaveValue(own)

  // Enter prepares one payment, however often it is pressed.
  const prepared: string[] = []
  person.page.on('request', (request) => {
    if (request.url().endsWith('/api/transaction/send')) prepared.push(request.method())
  })
  await person.page.getByLabel(text('Amount')).fill('0.01')
  await Promise.all([payee.press('Enter'), payee.press('Enter'), payee.press('Enter')])
  await expectReviewed(person.page, 'MetaMask')
  expect(prepared).toEqual(['POST'])
})

test('a whole purchase works with the keyboard alone', async ({ net, chains, buyer }) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  const { to, network, amount } = onEthereum(net, '0.01')
  await page.goto(`/pay?${new URLSearchParams({ network, to }).toString()}`)
  await expect(page.getByLabel(text('Amount'))).toBeVisible()

  await tabTo(page.getByLabel(text('Amount')))
  await page.keyboard.type(amount)
  await tabTo(page.getByRole('button', { name: text('Connect a wallet to pay') }))
  await page.keyboard.press('Enter')
  await tabTo(
    page.getByRole('button', {
      name: text('Connect {wallet} on {network}', { wallet: 'MetaMask', network: 'Ethereum' }),
    }),
  )
  await page.keyboard.press('Enter')
  await tabTo(page.getByRole('button', { name: text('Review payment') }))
  await page.keyboard.press('Enter')
  await expectReviewed(page, 'MetaMask')
  await tabTo(signButton(page, 'MetaMask'))
  await page.keyboard.press('Enter')
  await expectPaid(page)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})
