import { Trans } from '@lingui/react/macro'
import { useConfig } from '../../api/use-config.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import type { ResourceResponse } from './request/send-request.ts'
import { HeaderList } from './request/ResponseCard.tsx'
import type { NoChallenge } from './request/challenge.ts'
import type { ResourceRequest } from './request/request.ts'
import { CorsHelp } from './request/UnansweredCard.tsx'

export type NoChallengeCardProps = {
  none: NoChallenge
  answer: ResourceResponse
  request: ResourceRequest
  onRelay: () => void
}

/** A 402 that does not say what it wants; or one whose words the browser keeps from this page. */
export function NoChallengeCard({ none, answer, request, onRelay }: NoChallengeCardProps) {
  const { relay } = useConfig()
  const broken = none.problems.find(({ problem }) => problem === 'unreadable')
  const hidden = request.via === 'direct' && !broken
  return (
    <Card
      title={
        hidden ? (
          <Trans>It costs something, but its terms are hidden</Trans>
        ) : (
          <Trans>It costs something, but does not say what</Trans>
        )
      }
    >
      <p className="text-sm text-muted">
        {broken ? (
          <Trans>
            The server answered 402, and its terms (version {broken.version}) cannot be read:{' '}
            {broken.detail}.
          </Trans>
        ) : hidden ? (
          <Trans>
            The server answered 402 and lets this page see the status, but not the header with the
            terms: it does not name the header to other sites (CORS). The relay can read it for you.
          </Trans>
        ) : (
          <Trans>
            The server answered 402 without terms of x402, neither in its header nor in its body.
          </Trans>
        )}
      </p>
      {hidden && relay !== 'off' && (
        <Button className="mt-4" icon={<Icon name="refresh" />} onClick={onRelay} variant="primary">
          <Trans>Ask through the relay</Trans>
        </Button>
      )}
      {hidden && <CorsHelp />}
      <HeaderList answer={answer} />
    </Card>
  )
}
