import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { Webhook } from 'standardwebhooks'
import * as v from 'valibot'
import type { Devnet } from '#devnet/network.ts'
import { openDatabase } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { WebhookReceiver } from '#testing/webhook-receiver.ts'
import { expectAbsent } from './absent.ts'
import { pay } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

const Hooks = v.object({ webhooks: v.array(v.object({ id: v.string(), url: v.string() })) })

/** A request of the merchant's own server. */
async function askService(net: Devnet, path: string, body?: object): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${net.apiKeys.operator}`,
    'content-type': 'application/json',
  }
  const response = await fetch(`${net.urls.service}${path}`, {
    headers,
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  expect(response.status, path).toBe(200)
  return response.json()
}

async function webhookOf(net: Devnet, url: string): Promise<{ id: string }> {
  const { webhooks } = v.parse(Hooks, await askService(net, '/webhooks'))
  const found = webhooks.find((each) => each.url === url)
  if (!found) throw new Error(`There is no webhook for ${url}.`)
  return found
}

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
      .getByRole('button', { name: text('Actions for {name}', { name: receiver.url }) })
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

  // The log is filtered by what became of a delivery, and has older ones behind a button.
  const shown = row.getByRole('combobox', { name: text('Deliveries') })
  await shown.selectOption({ label: text('Failed') })
  await expect(row.getByText(text('Nothing found'))).toBeVisible()
  await shown.selectOption({ label: text('Delivered') })
  await expect(log.getByRole('listitem').filter({ hasText: 'payment.pending' })).toHaveCount(1)
  const { id: webhookId } = await webhookOf(net, receiver.url)
  for (let sent = 0; sent < 50; sent++) await askService(net, `/webhooks/${webhookId}/test`, {})
  await expect(log.getByRole('listitem')).toHaveCount(50, { timeout: 30_000 })
  await row.getByRole('button', { name: text('Show more') }).click()
  await expect(log.getByRole('listitem').filter({ hasText: 'payment.pending' })).toHaveCount(1)
  expect(await log.getByRole('listitem').count()).toBeGreaterThan(50)
  await expect(row.getByRole('button', { name: text('Show more') })).toHaveCount(0)

  // A period is delivered again, after the page has said how much that is.
  const known = new Set(receiver.accepted.map(({ id }) => id))
  const again = () => {
    const counts = Map.groupBy(receiver.accepted, ({ id }) => id)
    return [...known].filter((id) => (counts.get(id)?.length ?? 0) > (id === ids[0]?.id ? 2 : 1))
  }
  expect(again()).toEqual([])
  await row.getByRole('button', { name: text('Deliver a period again') }).click()
  await expect(dialog.getByText(text('Nothing found'))).toBeVisible()
  await expect(dialog.getByRole('button', { name: text('Deliver again') })).toBeDisabled()
  await dialog.getByLabel(text('From')).fill('2030-01-01T00:00')
  await expect(dialog.getByText(text('End precedes start.'))).toBeVisible()
  await dialog.getByLabel(text('From')).fill('2020-01-01T00:00')
  await dialog.getByText(text('All deliveries'), { exact: true }).click()
  await expect(dialog.getByRole('status')).toContainText(/\d{2}/)
  const total = Number.parseInt(await dialog.getByRole('status').innerText(), 10)
  expect(total).toBeGreaterThanOrEqual(known.size)
  await expectAccessible(page, 'developers: a period to deliver again')
  await dialog.getByRole('button', { name: text('Deliver again') }).press('Enter')
  await expect(dialog).toBeHidden()
  await expect.poll(() => again().length, { timeout: 60_000 }).toBe(known.size)

  await act(text('Turn off'))
  await expect(row.getByText(text('Off'), { exact: true })).toBeVisible()
  await act(text('Delete'))
  await dialog.getByRole('button', { name: text('Delete') }).click()
  await expect(row).toHaveCount(0)
})

test('deliveries that failed for three days are in the inbox, which leads to them, until they are delivered', async ({
  net,
  seller,
}) => {
  test.slow()
  await using receiver = await WebhookReceiver.start()
  receiver.answer = () => 500
  await askService(net, '/webhooks', { url: receiver.url, events: ['settlement'] })
  const { id } = await webhookOf(net, receiver.url)
  await askService(net, `/webhooks/${id}/test`, {})
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0)
  const page = await signInByApi(await seller(), net, '/')
  const told = page.getByText(
    text(
      '{deliveries, plural, one {# webhook delivery failed} other {# webhook deliveries failed}}',
      { deliveries: 1 },
    ),
  )
  await expect(page.getByRole('heading', { level: 1, name: text('Overview') })).toBeVisible()
  await expectAbsent(told)
  await page.goto('about:blank')
  // Three days later the service attempts it for the last time.
  await net.service.restart(async () => {
    await using opened = await openDatabase({ dataDir: join(net.dir, 'service') }, SERVICE_SCHEMA)
    await opened.db.execute(
      sql`update service.webhook_delivery set next_attempt_at = now(), retry_until = now() where endpoint_id = ${id}`,
    )
  })
  await page.goto('/')
  await expect(told).toBeVisible({ timeout: 60_000 })
  await expectAccessible(page, 'overview: a failed webhook')
  await page
    .getByRole('listitem')
    .filter({ has: told })
    .getByRole('link', { name: text('Show') })
    .click()
  const row = page.getByRole('listitem').filter({ hasText: receiver.url })
  const log = row.getByRole('list', { name: text('Deliveries') })
  await expect(log.getByRole('listitem')).toHaveCount(1)
  await expect(log.getByRole('listitem')).toContainText(text('Failed'))
  await expect(log).toBeInViewport()
  await expectAccessible(page, 'developers: failed deliveries')
  receiver.answer = () => 200
  await row.getByRole('button', { name: text('Deliver a period again') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: text('Deliver again') }).click()
  await expect(row.getByText(text('Nothing found'))).toBeVisible()
  await expect.poll(() => receiver.accepted.length).toBe(1)
  await page
    .getByRole('link', { name: text('Overview') })
    .first()
    .click()
  await expect(page.getByRole('heading', { level: 1, name: text('Overview') })).toBeVisible()
  await expectAbsent(told)
  await askService(net, `/webhooks/${id}`, { enabled: false })
})
