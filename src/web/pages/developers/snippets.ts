import { paymentEndpoints } from '#contract/payment-endpoints.ts'

export type SnippetLanguage = 'curl' | 'node'

/**
 * A call that reads the newest payments. URL and key come from the environment in which it runs.
 */
export function snippetOf(language: SnippetLanguage, serviceUrl: string | null): string {
  const path = `${paymentEndpoints.paymentList.path}?limit=10`
  if (language === 'curl') {
    return [
      `export PAYDESK_URL=${serviceUrl ?? 'https://payments.example'}`,
      'export PAYDESK_API_KEY=pk_live_…',
      '',
      `curl "$PAYDESK_URL${path}" \\`,
      '  -H "Authorization: Bearer $PAYDESK_API_KEY"',
    ].join('\n')
  }
  return [
    `const url = process.env.PAYDESK_URL ?? '${serviceUrl ?? 'https://payments.example'}'`,
    'const key = process.env.PAYDESK_API_KEY',
    '',
    `const response = await fetch(\`\${url}${path}\`, {`,
    '  headers: { Authorization: `Bearer ${key}` },',
    '})',
    "if (response.status === 429) console.log('wait', response.headers.get('Retry-After'), 's')",
    'const { payments, total } = await response.json()',
  ].join('\n')
}
