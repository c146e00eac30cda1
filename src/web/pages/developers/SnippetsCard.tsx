import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useConfig } from '../../api/use-config.ts'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { snippetOf, type SnippetLanguage } from './snippets.ts'

/** The first call of a server, ready to copy. The key is a placeholder: this page never has one. */
export function SnippetsCard() {
  const { t } = useLingui()
  const { serviceUrl } = useConfig()
  const [language, setLanguage] = useState<SnippetLanguage>('curl')
  const text = snippetOf(language, serviceUrl)
  return (
    <Card
      action={
        serviceUrl && (
          <a
            className="touch-target inline-flex items-center gap-1.5 text-sm text-accent-ink underline underline-offset-4"
            href={`${serviceUrl}/docs`}
            rel="noopener noreferrer"
            target="_blank"
          >
            <Trans>API reference</Trans> <Icon name="external" size={14} />
          </a>
        )
      }
      title={<Trans>First call</Trans>}
    >
      <Segmented
        label={t`Language`}
        onChange={setLanguage}
        options={[
          { value: 'curl', label: 'cURL' },
          { value: 'node', label: 'Node' },
        ]}
        value={language}
      />
      <pre
        className="mt-3 overflow-x-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs whitespace-pre"
        role="region"
        aria-label={t`Example`}
        tabIndex={0}
      >
        <code>{text}</code>
      </pre>
      <div className="mt-3 flex items-center justify-between gap-3">
        <CopyButton label={t`Copy`} text value={text} />
        {!serviceUrl && (
          <span className="text-xs text-muted">
            <Trans>The reference stands at /docs of your payment service.</Trans>
          </span>
        )}
      </div>
    </Card>
  )
}
