import { Trans } from '@lingui/react/macro'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Mark } from '../ui/Mark.tsx'

/** Shown when the page is served without its settings: for the person who deploys it. */
export function NotSetUp({ problem }: { problem: string }) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-120 flex-col justify-center gap-6 px-4">
      <Mark size={40} />
      <h1 className="text-xl font-semibold">
        <Trans>Dashboard not set up</Trans>
      </h1>
      <Card>
        <p className="text-sm text-muted" role="alert">
          {problem}
        </p>
        <p className="mt-3 text-sm text-muted">
          <Trans>Put a config.json beside index.html that names the proxy:</Trans>
        </p>
        <pre className="mt-3 rounded-lg bg-sunken p-3 font-mono text-[13px] [overflow-wrap:anywhere] whitespace-pre-wrap">
          {'{ "proxyUrl": "https://pay-api.example.org" }'}
        </pre>
      </Card>
      <Button onClick={() => location.reload()}>
        <Trans>Try again</Trans>
      </Button>
    </main>
  )
}
