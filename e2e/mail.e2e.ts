import type { ReceivedMail } from '#testing/mail-server.ts'
import { pay } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { signInByApi } from './seller.ts'
import { text } from './text.ts'

test('a merchant confirms an email address, is told of a payment, and ends the emails with one link', async ({
  net,
  mail,
  seller,
  buyer,
  expectError,
}) => {
  test.slow()
  expectError(/status of 400 .*\/api\/mail\/confirm/)
  const address = 'ana@post.example'
  const received = async (count: number): Promise<ReceivedMail> => {
    await expect.poll(() => mail.to(address).length, { timeout: 30_000 }).toBe(count)
    const last = mail.to(address).at(-1)
    if (!last) throw new Error('No email arrived.')
    return last
  }

  const page = await signInByApi(await seller(), net, '/settings')
  await page.getByLabel(text('Email address')).fill('ana@')
  const card = page.getByRole('region', { name: text('Emails') })
  await card.getByRole('button', { name: text('Save'), exact: true }).click()
  await expect(card.getByText(text('Enter an email address.'))).toBeVisible()
  await card.getByLabel(text('Email address')).fill(address)
  await card.getByLabel(text('Payment confirmed')).check()
  await card.getByRole('button', { name: text('Save'), exact: true }).click()
  await expect(card.getByText(text('Not confirmed'))).toBeVisible()

  // Nothing but the code is sent to an address that nobody has confirmed.
  const [code] = (await received(1)).mail.text?.match(/\b\d{8}\b/) ?? []
  if (code === undefined) throw new Error('The email has no code.')
  const codeField = card.getByLabel(text('Code'))
  await codeField.fill('0'.repeat(8))
  await expectAccessible(page, 'settings: email address to confirm')
  await card.getByRole('button', { name: text('Confirm address') }).click()
  await expect(card.getByText(text('Wrong or expired code. Save again.'))).toBeVisible()
  await codeField.fill(code)
  await codeField.press('Enter')
  await expect(card.getByText(text('Address confirmed'))).toBeVisible()
  await expectAccessible(page, 'settings: email address confirmed')

  const payer = await buyer({ ether: '1' })
  await pay(payer.page, 'MetaMask', onEthereum(net, '0.0363'))
  const told = await received(2)
  expect(told.mail.subject).toContain('0.0363 ETH')
  const links = told.mail.text?.match(/http:\/\/\S+/g) ?? []
  const toPayment = links.find((link) => link.startsWith(`${net.urls.web}/payments/`))
  await page.goto(toPayment ?? '')
  await expect(page.getByRole('heading', { level: 1 })).toContainText('0.0363')

  // Without an account: anybody who has the email ends the emails, after one press.
  const end = links.find((link) => !link.startsWith(net.urls.web))
  const stranger = await buyer()
  await stranger.page.goto(end ?? '')
  await stranger.page.getByRole('button').click()
  await expect(stranger.page.getByRole('button')).toHaveCount(0)
  await page.goto('/settings')
  await expect(card.getByText(text('Address confirmed'))).toBeVisible()
  await expect(card.getByRole('checkbox', { checked: true })).toHaveCount(0)
})
