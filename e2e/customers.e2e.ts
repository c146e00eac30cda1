import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { downloaded, paymentRows, signInByApi } from './seller.ts'
import { text } from './text.ts'

test('a seller names a customer, finds them by it, and exports and deletes their data while the payments stay', async ({
  net,
  seller,
  expectError,
}) => {
  expectError(/status of 400 .*\/api\/customers\/profiles/)
  const page = await signInByApi(await seller(), net, '/customers')
  const list = page.getByRole('table', { name: text('Customers') })
  await expect(list.getByRole('link').first()).toBeVisible()
  await expectAccessible(page, 'customers: list')

  await list.getByRole('link').first().click()
  const address = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
  await expect(page.getByRole('heading', { name: text('Latest payments') })).toBeVisible()
  await page.getByLabel(text('Name')).fill('Ana Pérez')
  await page.getByLabel(text('Email')).fill('not an address')
  await page.getByLabel(text('Labels')).fill('wholesale, Berlin')
  await page.getByRole('button', { name: text('Save') }).click()
  await expect(page.getByText('Expected an e-mail address.')).toBeVisible()
  await page.getByLabel(text('Email')).fill('ana@shop.example')
  await page.getByRole('button', { name: text('Save') }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ana Pérez' })).toBeVisible()
  await expectAccessible(page, 'customers: one')

  // The name is where the payments are, and leads back.
  await page.getByRole('link', { name: text('All payments') }).click()
  await expect(page).toHaveURL(/payments\?q=from/)
  await paymentRows(page).getByRole('link', { name: 'Ana Pérez' }).first().click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ana Pérez' })).toBeVisible()

  await page.goto('/customers')
  await page.getByLabel(text('Search customers')).fill('whole')
  await expect(list.getByRole('link')).toHaveText(['Ana Pérez'])
  await list.getByRole('link').click()

  const file = await downloaded(page, () =>
    page.getByRole('button', { name: text('Export as JSON') }).click(),
  )
  expect(JSON.parse(file.text)).toMatchObject({
    walletAddress: address,
    profile: { name: 'Ana Pérez', email: 'ana@shop.example', labels: ['wholesale', 'Berlin'] },
  })
  await page.getByRole('button', { name: text('Delete personal data') }).click()
  await expectAccessible(page, 'customers: data to delete')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: text('Delete personal data') })
    .click()
  await expect(page.getByLabel(text('Name'))).toHaveValue('')
  await expect(page.getByRole('heading', { level: 1, name: 'Ana Pérez' })).toHaveCount(0)
  await expect(
    page
      .getByRole('listitem')
      .filter({ has: page.getByRole('link') })
      .first(),
  ).toBeVisible()
})
