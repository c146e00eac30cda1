import { Trans } from '@lingui/react/macro'
import { Button } from '../../ui/Button.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import type { ResourceRequest } from './request/request.ts'

/** The request that is being paid for, out of the way. */
export function RequestLine({
  request,
  onChange,
}: {
  request: ResourceRequest
  onChange: () => void
}) {
  return (
    <div className="flex items-center gap-3 rounded-xl border border-line bg-surface px-5 py-3">
      <p className="min-w-0 flex-1 font-mono text-[13px]">
        <span className="me-2 text-muted">{request.method}</span>
        <UntrustedText className="break-all" text={request.url} />
      </p>
      <Button onClick={onChange} size="sm">
        <Trans>New request</Trans>
      </Button>
    </div>
  )
}
