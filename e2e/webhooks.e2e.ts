import { Webhook } from 'standardwebhooks'
import { WebhookReceiver } from '#testing/webhook-receiver.ts'
import { pay } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

test('a webhook is added, tested, fails, is delivered again, and is deleted', async ({
  net,
  seller,
  buyer,
  expectError,
}) => {
  test.slow()
  expectError(/status of 400 .*\/api\/webhooks/)
  await using receiver = await WebhookReceiver.start()
  const page = await signInByApi(await seller(), net, '/developers')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: text('Add webhook') }).click()
  await dialog.getByLabel(text('URL')).fill('https://192.168.0.1/events')
  await dialog.getByRole('button', { name: text('Add webhook') }).click()
  await expect(dialog.getByText(text('Enter a public https:// address on port 443.'))).toBeVisible()
  await dialog.getByLabel(text('URL')).fill(receiver.url)
  await expectAccessible(page, 'developers: webhook to add')
  await dialog.getByRole('button', { name: text('Add webhook') }).click()
  const secret = (await dialog.getByLabel(text('Signing secret')).innerText()).trim()
  await expectAccessible(page, 'developers: webhook secret')
  await dialog.getByRole('button', { name: text('Done') }).click()
  expect(await page.content()).not.toContain(secret)

  const row = page.getByRole('listitem').filter({ hasText: receiver.url })
  const act = async (name: string) => {
    await row
      .getByRole('button', { name: text('Actions for {url}', { url: receiver.url }) })
      .click()
    await page.getByRole('menuitem', { name }).click()
  }
  await act(text('Send test event'))
  const log = row.getByRole('list', { name: text('Deliveries') })
  const first = log.getByRole('listitem').first()
  await expect(first).toContainText(text('Delivered'))
  await expect(first).toContainText('test')
  const [tested] = receiver.received
  if (!tested) throw new Error('nothing was received')
  const headers = Object.entries(tested.headers).map(([name, value]) => [name, String(value)])
  new Webhook(secret).verify(tested.body, Object.fromEntries(headers))

  // A server that fails is tried again; the merchant sees what it answered.
  receiver.answer = ({ type }) => (type === 'payment.pending' ? 500 : 200)
  const payer = await buyer({ ether: '1' })
  await pay(payer.page, 'MetaMask', onEthereum(net, '0.0357'))
  const failing = log.getByRole('listitem').filter({ hasText: 'payment.pending' }).first()
  await expect(failing).toContainText(text('Waiting'))
  const summary = failing.getByText(textLike('Status {status} in {durationMs} ms', { status: 500 }))
  await summary.click()
  await expect(failing.getByRole('region', { name: text('Request') })).toContainText('0.0357')
  await expect(failing.getByRole('region', { name: text('Response') })).toHaveText('answered 500')
  await expectAccessible(page, 'developers: webhook log')
  // It need not wait for the next attempt once it works.
  receiver.answer = () => 200
  await failing.getByRole('button', { name: text('Deliver again') }).click()
  await expect(failing).toContainText(text('Delivered'))
  const before = receiver.received.filter(({ type }) => type === 'payment.pending').length
  await failing.getByRole('button', { name: text('Deliver again') }).click()
  await expect
    .poll(() => receiver.received.filter(({ type }) => type === 'payment.pending').length)
    .toBe(before + 1)
  const ids = receiver.received.filter(({ type }) => type === 'payment.pending')
  expect(new Set(ids.map(({ id }) => id)).size).toBe(1)

  await act(text('Turn off'))
  await expect(row.getByText(text('Off'), { exact: true })).toBeVisible()
  await act(text('Delete'))
  await dialog.getByRole('button', { name: text('Delete') }).click()
  await expect(row).toHaveCount(0)
})
