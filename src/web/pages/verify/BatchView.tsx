import { Trans, useLingui } from '@lingui/react/macro'
import { plural } from '@lingui/core/macro'
import { useMemo, useRef, useState } from 'react'
import { shortAddress } from '#contract/address.ts'
import { hasRole } from '#contract/role.ts'
import { useSession } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { saveFile } from '../../ui/CopyButton.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Table, Td, Th } from '../../ui/Table.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { readBatch, writeCsv, type BatchRow, checkRow, type ProofLine } from './batch.ts'
import { ExpectedForm } from './ExpectedForm.tsx'
import { readExpected, startFields, type ExpectedProblems } from './expected.ts'
import { ProofBox } from './ProofBox.tsx'
import { verdictWords } from './words.ts'

/** Many proofs against one expectation, one after another: each asks the node, and the service where it may. Nothing is used up. */
export function BatchView() {
  const { t } = useLingui()
  const { networks, sellerWallets } = useConfig()
  const state = useSession()
  const session = state.kind === 'known' ? state.session : null
  const [text, setText] = useState('')
  const [fields, setFields] = useState(() =>
    startFields(undefined, networks, [...(session?.wallets ?? []), ...sellerWallets]),
  )
  const [problems, setProblems] = useState<ExpectedProblems>({})
  const [lines, setLines] = useState<readonly ProofLine[]>([])
  const [running, setRunning] = useState(false)
  const latest = useRef(0)
  const read = useMemo(() => readBatch(text), [text])
  const count = read.ok ? read.rows.length : 0
  const wrong = {
    json: t`Invalid JSON list.`,
    too_many: t`Check up to 500 proofs.`,
    no_column: t`Column “proof” is missing.`,
  }

  async function run(rows: readonly BatchRow[]) {
    const expected = readExpected(fields, networks)
    setProblems(expected.ok ? {} : expected.problems)
    if (!expected.ok) return
    const mine =
      session !== null &&
      (hasRole(session.role, 'operator') || session.wallets.includes(expected.expected.wallet))
    const turn = ++latest.current
    setRunning(true)
    setLines([])
    const seen = new Map<string, string>()
    for (const row of rows) {
      const line = await checkRow(row, expected.expected, { mine, seen })
      if (turn !== latest.current) return
      setLines((done) => [...done, line])
    }
    setRunning(false)
  }

  function stop() {
    latest.current++
    setRunning(false)
  }

  /** Verdicts stand only beside what they answer. */
  function forget() {
    stop()
    setLines([])
  }

  return (
    <div className="space-y-4">
      <Card>
        <ProofBox
          accept=".csv,.json,.txt,text/csv,application/json,text/plain"
          found={
            read.ok ? { kind: 'empty' } : { kind: 'problem', text: wrong[read.problem], at: null }
          }
          many
          onText={(next) => {
            setText(next)
            forget()
          }}
          text={text}
        />
      </Card>
      <Card title={<Trans>Expected payment</Trans>}>
        <ExpectedForm
          fields={fields}
          many
          onChange={(next) => {
            setFields(next)
            forget()
          }}
          problems={problems}
        />
        <div className="mt-5 flex flex-wrap items-center gap-3">
          <Button
            busy={running}
            disabled={count === 0}
            icon={<Icon name="shield" />}
            onClick={() => read.ok && void run(read.rows)}
            variant="primary"
          >
            {t`${plural(count, { 0: 'Check', one: 'Check # proof', other: 'Check # proofs' })}`}
          </Button>
          {running && (
            <Button onClick={stop}>
              <Trans>Stop</Trans>
            </Button>
          )}
        </div>
      </Card>
      {lines.length > 0 && <BatchTable lines={lines} running={running} total={count} />}
    </div>
  )
}

function BatchTable({
  lines,
  running,
  total,
}: {
  lines: readonly ProofLine[]
  running: boolean
  total: number
}) {
  const { t } = useLingui()
  const done = lines.length
  return (
    <Card
      action={
        !running && (
          <Button icon={<Icon name="download" />} onClick={() => save(lines)} size="sm">
            <Trans>Export CSV</Trans>
          </Button>
        )
      }
      flush
      subtitle={
        <span role="status">
          {running ? (
            <Trans>
              {done} of {total} checked
            </Trans>
          ) : (
            <Trans>{done} checked</Trans>
          )}
        </span>
      }
      title={<Trans>Verdicts</Trans>}
    >
      {running && (
        <progress
          className="mx-5 mb-3 block h-1.5 w-[calc(100%-2.5rem)] accent-accent"
          max={total}
          value={done}
          aria-label={t`Progress`}
        />
      )}
      <Table caption={t`Results`}>
        <thead>
          <tr>
            <Th>
              <Trans>Proof</Trans>
            </Th>
            <Th>
              <Trans>Verdict</Trans>
            </Th>
            <Th className="max-sm:hidden">
              <Trans>Reason</Trans>
            </Th>
            <Th className="max-sm:hidden">
              <Trans>Payer</Trans>
            </Th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line, index) => {
            const { title, tone, icon } = verdictWords[line.verdict]
            return (
              <tr key={index}>
                <Td>
                  <UntrustedText text={line.name} />
                </Td>
                <Td>
                  <Badge icon={<Icon name={icon} size={14} />} tone={tone}>
                    {t(title)}
                  </Badge>
                  {line.reason && (
                    <UntrustedText className="mt-1 block text-muted sm:hidden" text={line.reason} />
                  )}
                </Td>
                <Td className="text-muted max-sm:hidden">
                  <UntrustedText text={line.reason} />
                </Td>
                <Td className="font-mono text-[13px] whitespace-nowrap max-sm:hidden">
                  {line.payer ? shortAddress(line.payer) : ''}
                </Td>
              </tr>
            )
          })}
        </tbody>
      </Table>
      {lines.some(({ verdict }) => verdict === 'unknown') && !running && (
        <Banner className="m-5" tone="warn">
          <Trans>Some results unknown. Check again.</Trans>
        </Banner>
      )}
    </Card>
  )
}

function save(lines: readonly ProofLine[]): void {
  saveFile(new Blob([writeCsv(lines)], { type: 'text/csv;charset=utf-8' }), 'verdicts.csv')
}
