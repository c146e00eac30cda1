import { env } from 'node:process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { chromium, type BrowserContext, type CDPSession, type Page } from '@playwright/test'
import { findBrowser } from '#testing/browser.ts'
import { openHistoryFixture } from '#testing/history-fixture.ts'

/**
 * Scrolls a list of 100,000 payments in Chromium on a CPU slowed down four times, next to 3,000
 * plain rows that are all present and need no code. Prints how smooth the list is compared with
 * them, and its memory, with their limits: 50 of 60 frames. It uses the output of `npm run build`.
 * `--rows 20000` sets another length, `--slower 1` the machine's own speed. Exits with 1 when a
 * limit is missed.
 */

const argument = (name: string, fallback: string) =>
  process.argv[process.argv.indexOf(name) + 1 || process.argv.length] ?? fallback
const ROWS = Number(argument('--rows', '100000'))
const DIST = argument('--dist', 'dist')
const SLOWER = Number(argument('--slower', '4'))
const SECONDS = 8
const MB = 1024 * 1024
/** Pixels per frame: ten rows a second, seventy, a thousand. */
const READING = 9
const PACES = [
  ['reading', READING],
  ['skimming', 60],
  ['dragging the scrollbar', 900],
] as const

const results: { name: string; value: number; bar: string; ok: boolean }[] = []

function report(
  name: string,
  value: number,
  limit: { least?: number; most?: number; unit: string },
): void {
  const ok = limit.most === undefined ? value >= (limit.least ?? 0) : value <= limit.most
  const bar =
    limit.most === undefined ? `≥ ${limit.least} ${limit.unit}` : `≤ ${limit.most} ${limit.unit}`
  results.push({ name, value, bar, ok })
  console.log(`${name}: ${value.toFixed(2)} ${limit.unit} (bar ${bar})${ok ? '' : ' MISSED'}`)
}

console.log(`writing ${ROWS.toLocaleString('en')} payments …`)
await using fixture = await openHistoryFixture({ rows: ROWS, dist: DIST })
const browser = await chromium.launch({
  executablePath: await findBrowser(env),
  args: [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--enable-precise-memory-info',
    '--js-flags=--expose-gc',
  ],
})
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addCookies([
    {
      ...fixture.cookie,
      domain: 'localhost',
      path: '/',
      secure: true,
      httpOnly: true,
      sameSite: 'Strict',
    },
  ])
  const page = await context.newPage()
  await page.goto(`${fixture.url}/payments`)
  await page.getByRole('table').getByRole('row').nth(5).waitFor()
  const cdp = await context.newCDPSession(page)
  await page.waitForLoadState('networkidle')

  const before = await heapOf(cdp)
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  await using plain = await openPlain(context)
  for (const [pace, pixelsAFrame] of PACES) {
    await plain.page.bringToFront()
    const theirs = await scroll(plain.page, { pixelsAFrame })
    await page.bringToFront()
    const ours = await scroll(page, { pixelsAFrame })
    console.log(
      `${pace}: ${ours.fps.toFixed(1)} frames a second, plain rows ${theirs.fps.toFixed(1)}; longest task ${ours.longest.toFixed(0)} ms`,
    )
    report(`smoothness, ${pace}`, ours.fps / theirs.fps, { least: 0.83, unit: '× plain rows' })
    // A smooth but blank list is useless: at reading speed there must be rows to read.
    if (pixelsAFrame === READING)
      report(`frames with a row under the eye, ${pace}`, ours.seen * 100, { least: 95, unit: '%' })
  }
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })

  // All over the list: what was loaded in between must not stay in memory.
  for (let place = 1; place <= 20; place++) {
    await page.evaluate(
      (share) => window.scrollTo(0, document.documentElement.scrollHeight * share),
      place / 20,
    )
    await page.locator('tr[data-payment-row]').first().waitFor()
  }
  report('memory after the whole list', (await heapOf(cdp)) / MB - before / MB, {
    most: 10,
    unit: 'MB more',
  })
  report('rows in the page', await page.locator('tr[data-index]').count(), {
    most: 80,
    unit: 'rows',
  })
  await context.close()
} finally {
  await browser.close()
}
mkdirSync('bench/out', { recursive: true })
writeFileSync(
  'bench/out/table.json',
  JSON.stringify({ rows: ROWS, slower: SLOWER, results }, null, 2),
)
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1

/** A page of rows that scrolling neither adds nor removes, slowed down as much as the other. */
async function openPlain(context: BrowserContext): Promise<AsyncDisposable & { page: Page }> {
  const page = await context.newPage()
  const row =
    '<div style="display:flex;gap:40px;height:52px;border-bottom:1px solid #ddd"><b>0.0123 ETH</b><i>Received</i><span>0x7099…79C8</span></div>'
  await page.setContent(`<body style="font:14px sans-serif">${row.repeat(3_000)}</body>`)
  await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  return { page, [Symbol.asyncDispose]: () => page.close() }
}

async function heapOf(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.enable')
  await cdp.send('HeapProfiler.collectGarbage')
  await cdp.send('HeapProfiler.collectGarbage')
  return (await cdp.send('Runtime.getHeapUsage')).usedSize
}

/**
 * Scrolls a little every frame, as a wheel does, and measures what the screen showed. `seen`: the
 * share of frames with a payment in their middle.
 */
async function scroll(
  page: Page,
  { pixelsAFrame }: { pixelsAFrame: number },
): Promise<{ fps: number; longest: number; seen: number }> {
  return page.evaluate(
    async ({ step, ms }) => {
      const tasks: number[] = []
      const observer = new PerformanceObserver((list) =>
        tasks.push(...list.getEntries().map(({ duration }) => duration)),
      )
      observer.observe({ type: 'longtask' })
      const started = performance.now()
      let frames = 0
      let seen = 0
      await new Promise<void>((resolve) => {
        function frame() {
          frames++
          if (
            document
              .elementFromPoint(innerWidth / 2, innerHeight / 2)
              ?.closest('[data-payment-row]')
          )
            seen++
          window.scrollBy(0, step)
          if (performance.now() - started < ms) requestAnimationFrame(frame)
          else resolve()
        }
        requestAnimationFrame(frame)
      })
      const seconds = (performance.now() - started) / 1000
      observer.disconnect()
      return { fps: frames / seconds, longest: Math.max(0, ...tasks), seen: seen / frames }
    },
    { step: pixelsAFrame, ms: SECONDS * 1000 },
  )
}
