import type { Page } from '@playwright/test'
import { pagePaths } from '#web/router/page-paths.ts'
import { connect } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test, type Person } from './fixtures.ts'
import { signIn, signInByApi } from './seller.ts'
import { oneOf, text, textLike } from './text.ts'

async function sign(page: Page): Promise<void> {
  await page
    .getByRole('dialog')
    .getByRole('button', { name: text('Sign with {walletName}', { walletName: 'MetaMask' }) })
    .click()
}

async function join(person: Person, link: string): Promise<void> {
  await person.page.goto(link)
  await connect(person.page, 'MetaMask')
  await person.page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await person.page.getByRole('button', { name: text('Accept invitation') }).click()
}

/** The page has what it asked for. */
async function expectRead(page: Page, path: string): Promise<void> {
  await expect(page.getByRole('status', { name: text('Loading') }), path).toHaveCount(0)
  await expect(page.getByRole('alert'), path).toHaveCount(0)
}

/** Opens every page of the dashboard: none fails, and the palette opens on each. */
async function walkPages(page: Page): Promise<void> {
  const main = page.getByRole('main')
  const details: string[] = []
  const all = Object.values(pagePaths).filter((path) => !path.includes(':') && path !== '/join')
  for (const path of all) {
    await page.goto(path)
    await expect(main.getByRole('heading', { level: 1 })).toBeVisible()
    // /pay is the merchant's page until the role is known, and has no search.
    await expect(page.getByRole('navigation', { name: text('Main') })).toBeVisible()
    // The keys work once the frame of the page has been drawn.
    await expect(async () => {
      await page.keyboard.press('Control+k')
      await expect(
        page.getByRole('combobox', { name: text('Page, payment, customer or address') }),
        path,
      ).toBeFocused({ timeout: 2_000 })
    }).toPass()
    await page.keyboard.press('Escape')
    await expectRead(page, path)
    if (path !== '/payments' && path !== '/customers') continue
    const first = main.getByRole('table').getByRole('link').first()
    details.push((await first.getAttribute('href')) ?? '')
  }
  for (const path of details) {
    await page.goto(path)
    await expect(
      main.getByRole('heading', { name: oneOf(['What happened', 'Latest payments']) }),
    ).toBeVisible()
    await expectRead(page, path)
  }
  expect(details).toHaveLength(2)
}

test('an owner invites a viewer, who sees all and changes nothing until an owner allows it', async ({
  net,
  seller,
  buyer,
  expectError,
}) => {
  test.slow()
  expectError(/status of 403 .*\/api\/people\/invitation\/read/)
  // The page of the person who was removed may ask once more, whatever it shows, before it learns that the session ended.
  expectError(/status of 401 .*\/api\//)
  const owner = await seller()
  const page = await signIn(owner, '/people')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: text('Invite') }).click()
  await expect(dialog.getByText(text('Valid for 7 days.'))).toBeVisible()
  await expectAccessible(page, 'people: to invite')
  await dialog.getByRole('button', { name: text('Create invitation link') }).click()
  await expect(dialog.getByText('May: see all payments')).toBeVisible()
  await sign(page)
  const link = (await dialog.getByLabel(text('Invitation link')).innerText()).trim()
  await expectAccessible(page, 'people: invitation link')
  await dialog.getByRole('button', { name: text('Done') }).click()
  await expect(page.getByRole('heading', { name: text('Open invitations') })).toBeVisible()
  expect(await page.content()).not.toContain(link.split('#')[1])

  const guest = await buyer()
  await guest.page.goto(link)
  await expect(guest.page.getByText(textLike('Sign in to join {title}')).first()).toBeVisible()
  await expect(guest.page.getByText(text('Sees all payments. Changes nothing.'))).toBeVisible()
  await expect(guest.page.getByRole('main')).toContainText(owner.ethereum.address)
  await expectAccessible(guest.page, 'people: to accept')
  await join(guest, link)
  await expect(guest.page.getByText(textLike('Your role: {label}')).first()).toContainText(
    text('Viewer'),
  )
  await expect(guest.page.getByRole('heading', { name: text('Overview'), level: 1 })).toBeVisible()

  // Everything is there to be read; what would be refused is not offered.
  const look = await signInByApi(guest, net, '/links')
  const main = look.getByRole('main')
  await expect(main.getByRole('heading', { name: text('Payment links'), level: 1 })).toBeVisible()
  // The role is known.
  await expect(
    look
      .getByRole('navigation', { name: text('Main') })
      .getByRole('link', { name: text('Customers') }),
  ).toBeVisible()
  await expect(main.getByRole('button', { name: text('New link') })).toHaveCount(0)
  await look.goto('/developers')
  await expect(main.getByRole('heading', { name: text('Webhooks') })).toBeVisible()
  await expect(main.getByRole('table', { name: text('API keys') })).toBeVisible()
  for (const name of [text('Create API key'), text('Add webhook')])
    await expect(main.getByRole('button', { name })).toHaveCount(0)
  await look.goto('/people')
  await expect(main.getByText(text('Owners only'))).toBeVisible()
  await expectAccessible(look, 'people: not an owner')

  await walkPages(look)

  const second = await buyer()
  await second.page.goto(link)
  await expect(second.page.getByRole('alert')).toContainText(text('Invitation no longer valid'))
  await expectAccessible(second.page, 'people: invitation over')

  // The owner makes the viewer an operator, sees the log, and removes the person.
  await page.reload()
  const row = page.getByRole('listitem').filter({ has: page.locator(`text=${text('Viewer')}`) })
  await row.getByRole('button', { name: textLike('Actions for {name}') }).click()
  await page.getByRole('menuitem', { name: text('Change role') }).click()
  await expect(dialog.getByRole('button', { name: text('Change role') })).toBeDisabled()
  await dialog.getByText(text('Operator'), { exact: true }).click()
  await dialog.getByRole('button', { name: text('Change role') }).click()
  await expect(dialog.getByText(`Wallet: ${guest.ethereum.address}`)).toBeVisible()
  await sign(page)
  await expect(dialog).toBeHidden()
  await look.goto('/links')
  await expect(main.getByRole('button', { name: text('New link') })).toBeVisible()

  const log = page.getByRole('row').filter({ hasText: text('Role changed') })
  await expect(log).toContainText(text('Operator'))
  await expectAccessible(page, 'people: people and log')
  const operator = page.getByRole('button', { name: textLike('Actions for {name}') })
  await operator.click()
  await page.getByRole('menuitem', { name: text('Remove') }).click()
  await dialog.getByRole('button', { name: text('Remove') }).click()
  await expect(operator).toHaveCount(0)
  await look.goto('/links')
  await expect(main.getByText(text('No access'))).toBeVisible()
})

test('an invitation link that is not whole says so', async ({ visitor }) => {
  const page = await visitor()
  await page.goto('/join#short')
  await expect(page.getByRole('alert')).toContainText(text('Invitation link incomplete'))
  await expectAccessible(page, 'people: invitation incomplete')
})
