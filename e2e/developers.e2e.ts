import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { signIn } from './seller.ts'

test('a key is made, shown once, works, is rotated with a countdown, and deleted by its name', async ({ net, seller }) => {
  test.slow()
  const person = await seller()
  const page = await signIn(person, '/developers')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Till one')
  await dialog.getByRole('button', { name: 'Create key' }).click()

  // The wallet's word is asked for, over these very terms; without it there is no key.
  await expect(dialog.getByText('May: payment:read')).toBeVisible()
  await expect(dialog.getByText('Name: "Till one"')).toBeVisible()
  await expectAccessible(page, 'developers: key to sign for')
  person.ethereum.signing = 'reject'
  await dialog.getByRole('button', { name: 'Sign with MetaMask' }).click()
  await expect(dialog.getByText('You cancelled in MetaMask')).toBeVisible()
  person.ethereum.signing = 'approve'
  await dialog.getByRole('button', { name: 'Sign with MetaMask' }).click()
  await expect(dialog.getByRole('heading', { name: 'Copy your key now' })).toBeVisible()
  await expectAccessible(page, 'developers: key shown once')
  await page.keyboard.press('Escape')
  await expect(dialog.getByRole('button', { name: 'Done' })).toBeDisabled()
  await dialog.getByRole('button', { name: 'Show' }).click()
  const key = (await dialog.getByLabel('The key').innerText()).trim()
  expect(key).toMatch(/^pk_live_/)
  const answer = await fetch(`${net.urls.service}/payments?limit=1`, { headers: { Authorization: `Bearer ${key}` } })
  expect(answer.status).toBe(200)
  await dialog.getByLabel('I have stored it in a safe place.').check()
  await dialog.getByRole('button', { name: 'Done' }).click()

  const row = page.getByRole('row').filter({ hasText: 'Till one' })
  await expect(row).toBeVisible()
  expect(await page.content()).not.toContain(key)

  await page.getByRole('button', { name: 'Actions for Till one' }).click()
  await page.getByRole('menuitem', { name: 'Rotate' }).click()
  await expectAccessible(page, 'developers: key to rotate')
  await dialog.getByRole('button', { name: 'Rotate key' }).click()
  await expect(dialog.getByText('The old key works on for: 3600 seconds')).toBeVisible()
  await dialog.getByRole('button', { name: 'Sign with MetaMask' }).click()
  await dialog.getByLabel('I have stored it in a safe place.').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(row.filter({ hasText: /ends in \d+ min/ })).toHaveCount(1)

  await page.getByRole('button', { name: 'Actions for Till one' }).last().click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog.getByLabel(/^Type/).fill('Till')
  await expect(dialog.getByRole('button', { name: 'Delete key' })).toBeDisabled()
  await expectAccessible(page, 'developers: key to delete')
  await dialog.getByLabel(/^Type/).fill('Till one')
  await dialog.getByRole('button', { name: 'Delete key' }).click()
  await expect(dialog).toBeHidden()
  await page.getByText(/keys? that ended/).click()
  await expect(row.filter({ hasText: 'Deleted' })).toHaveCount(1)
})

test('the quota and the usage are there, for eyes and for a keyboard', async ({ seller }) => {
  const page = await signIn(await seller(), '/developers')
  const meter = page.getByRole('meter', { name: 'Requests left' })
  await expect(meter).toHaveAttribute('aria-valuemax', '1000')
  const chart = page.getByRole('slider', { name: /^Requests an hour/ })
  await chart.focus()
  await page.keyboard.press('End')
  await expect(chart).toHaveAttribute('aria-valuetext', /answered/)
  await page.getByRole('button', { name: 'Show table' }).click()
  await expect(page.getByRole('table', { name: 'Requests an hour' })).toBeVisible()
  await expectAccessible(page, 'developers: keys and usage')
})

test('someone who does not run the desk is told so', async ({ buyer }) => {
  const page = await signIn(await buyer({ ether: '1' }), '/developers')
  await expect(page.getByText('Keys belong to whoever runs this desk')).toBeVisible()
  await expectAccessible(page, 'developers: not the operator')
})

test('keys are made, rotated and deleted with the keyboard alone, and the focus comes back to where it was', async ({ seller }) => {
  test.slow()
  const page = await signIn(await seller(), '/developers')
  const { keyboard } = page
  const dialog = page.getByRole('dialog')
  const actions = page.getByRole('button', { name: 'Actions for Night shift' })
  const storeKey = async () => {
    await tabTo(dialog.getByRole('button', { name: 'Sign with MetaMask' }))
    await keyboard.press('Enter')
    await expect(dialog.getByRole('heading', { name: 'Copy your key now' })).toBeVisible()
    await tabTo(dialog.getByLabel('I have stored it in a safe place.'))
    await keyboard.press('Space')
    await tabTo(dialog.getByRole('button', { name: 'Done' }))
    await keyboard.press('Enter')
    await expect(dialog).toBeHidden()
  }

  const create = page.getByRole('button', { name: 'Create key' })
  await tabTo(create)
  await keyboard.press('Enter')
  await tabTo(dialog.getByLabel('Name'))
  await keyboard.press('Escape')
  await expect(create).toBeFocused()
  await keyboard.press('Enter')
  await tabTo(dialog.getByLabel('Name'))
  await keyboard.type('Night shift')
  await tabTo(dialog.getByRole('button', { name: 'Create key' }))
  await keyboard.press('Enter')
  await storeKey()
  await expect(create).toBeFocused()

  await tabTo(actions)
  await keyboard.press('Enter')
  await expect(page.getByRole('menuitem', { name: 'Rotate' })).toBeFocused()
  await keyboard.press('Enter')
  await tabTo(dialog.getByRole('button', { name: 'Rotate key' }))
  await keyboard.press('Enter')
  await storeKey()

  await tabTo(actions.last())
  await keyboard.press('Enter')
  await keyboard.press('ArrowDown')
  await expect(page.getByRole('menuitem', { name: 'Delete' })).toBeFocused()
  await keyboard.press('Enter')
  await tabTo(dialog.getByLabel(/^Type/))
  await keyboard.type('Night shift')
  await tabTo(dialog.getByRole('button', { name: 'Delete key' }))
  await keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  // What was pressed is gone with its row: what takes its place has the focus.
  await expect(actions).toHaveCount(1)
  await expect(page.getByRole('region', { name: 'API keys' }).locator(':focus')).toHaveCount(1)
})
