import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'
import { STATES, type State } from './states.ts'

const DESK = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * axe finds nothing in this state, in either theme, and the page is never wider than the phone,
 * regardless of the addresses in it. Restores the page's size; the theme is light
 * afterwards.
 */
export async function expectAccessible(page: Page, state: State): Promise<void> {
  const before = page.viewportSize() ?? DESK
  // Each theme at one of the two sizes, alternating: the parts that all states share are checked in
  // all four combinations.
  const [bright, dark] = STATES.indexOf(state) % 2 === 0 ? [DESK, PHONE] : [PHONE, DESK]
  await expectNothingFound(page, { state, size: dark, colorScheme: 'dark' })
  await expectNothingFound(page, { state, size: bright, colorScheme: 'light' })
  await page.setViewportSize(before)
}

/**
 * Colours change over some frames and a dialog fades in: axe would read an intermediate colour.
 * Either may begin after any frame, when a component draws its answer to the new size or theme. So
 * nothing on this page takes time from here on. Waiting could hang: a hidden page may draw no frame.
 * A style element would be refused by the page's Content-Security-Policy.
 */
async function stopMotion(page: Page): Promise<void> {
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(
      '*, ::before, ::after { transition: none !important; animation: none !important }',
    )
    document.adoptedStyleSheets = [sheet]
  })
}

/**
 * The page draws for its new size in the frame that tells it of the size: what it draws is there in the next task. A hidden page draws no frame.
 */
async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  const drawn = await page.evaluateHandle(
    ({ width, height }) => ({
      promise: new Promise<void>((resolve) => {
        if (document.hidden || (innerWidth === width && innerHeight === height)) resolve()
        else addEventListener('resize', () => setTimeout(resolve), { once: true })
      }),
    }),
    size,
  )
  await page.setViewportSize(size)
  await drawn.evaluate(({ promise }) => promise)
  await drawn.dispose()
}

type Look = { state: State; size: { width: number; height: number }; colorScheme: 'light' | 'dark' }

async function expectNothingFound(page: Page, { state, size, colorScheme }: Look): Promise<void> {
  await stopMotion(page)
  await page.emulateMedia({ colorScheme })
  await resize(page, size)
  const look = `${state}, ${colorScheme}, ${size.width} px, ${page.url()}`
  expect(await findViolations(page), look).toEqual([])
  expect(await widthOf(page), `the width of ${look}`).toBeLessThanOrEqual(size.width)
  expect(
    await widthWithWidestCodes(page),
    `the width with the widest addresses and hashes of ${look}`,
  ).toBeLessThanOrEqual(size.width)
}

/**
 * The axe script stays in the page until the next load. Our pages have no frames of other origins,
 * so one run in the page reads everything.
 */
async function findViolations(page: Page): Promise<string[]> {
  const loaded = await page.evaluate(() => 'axe' in window)
  const builder = new AxeBuilder({ page, ...(loaded && { axeSource: ';' }) }).setLegacyMode()
  const { violations } = await builder
    .options({ resultTypes: ['violations'] })
    .withTags(TAGS)
    .analyze()
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  )
}

function widthOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth)
}

/**
 * The page's width when each address and hash in its text is as wide as possible: `W` is the widest
 * letter of base58, `D` of hex. The text is restored before the page runs again.
 */
function widthWithWidestCodes(page: Page): Promise<number> {
  return page.evaluate(() => {
    const replaced: { node: Text; text: string }[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!(node instanceof Text)) continue
      const text = node.data
      const widest = text
        .replaceAll(/\b0x[0-9a-f]{40,}\b/gi, (code) => `0x${'D'.repeat(code.length - 2)}`)
        .replaceAll(/\b[1-9A-HJ-NP-Za-km-z]{32,88}\b/g, (code) => 'W'.repeat(code.length))
      if (widest === text) continue
      replaced.push({ node, text })
      node.data = widest
    }
    const width = document.documentElement.scrollWidth
    for (const { node, text } of replaced) node.data = text
    return width
  })
}
