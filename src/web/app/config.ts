import * as v from 'valibot'
import { parseJson } from '#contract/json.ts'

/** What a deployment says beside index.html; nothing is baked into the build. */
export const WebConfig = v.object({
  /** Where the proxy answers: absolute, or a path on this host. */
  proxyUrl: v.pipe(
    v.string(),
    v.check(
      (text) => URL.canParse(text, 'https://example.org'),
      'Expected an address such as https://pay-api.example.org.',
    ),
  ),
  title: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(60))),
})
export type WebConfig = v.InferOutput<typeof WebConfig>

export type ConfigResult = { ok: true; config: WebConfig } | { ok: false; problem: string }

/** Reads `config.json` from beside the page. Never throws: a deployment that is not set up is told so in the page. */
export async function loadConfig(): Promise<ConfigResult> {
  const url = new URL('config.json', document.baseURI)
  try {
    const response = await fetch(url)
    if (!response.ok) return { ok: false, problem: `${url.pathname} answered ${response.status}.` }
    return readConfig(await response.text(), url)
  } catch {
    return { ok: false, problem: `${url.pathname} could not be loaded.` }
  }
}

export function readConfig(text: string, url: URL): ConfigResult {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    return { ok: false, problem: `${url.pathname} is not JSON.` }
  }
  const result = v.safeParse(WebConfig, value)
  if (!result.success) {
    const problems = result.issues.map(
      (issue) => `${v.getDotPath(issue) ?? 'config.json'}: ${issue.message}`,
    )
    return { ok: false, problem: problems.join(' ') }
  }
  return {
    ok: true,
    config: { ...result.output, proxyUrl: new URL(result.output.proxyUrl, url).href },
  }
}
