import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test } from 'vitest'
import { i18n } from './i18n.ts'
import { Trans as Placed } from './Trans.tsx'

afterEach(() => i18n.activate('en'))

const name = 'Ada'
function Sentence({ count }: { count: number }) {
  const { t } = useLingui()
  return (
    <p title={t`For ${name}`}>
      <Trans>
        <b>{name}</b> pays {<i>much</i>} to <a href="#x">Bob{<br />}</a>, 5 &lt; 6.
      </Trans>
      <Plural one="# payment" other="# payments" value={count} />
    </p>
  )
}

test('elements and nodes stand where the message has them', () => {
  expect(renderToStaticMarkup(<Sentence count={1} />)).toBe(
    '<p title="For Ada"><b>Ada</b> pays <i>much</i> to <a href="#x">Bob<br/></a>, 5 &lt; 6.1 payment</p>',
  )
  expect(renderToStaticMarkup(<Sentence count={1200} />)).toContain('1,200 payments')
})

test('a translation moves the elements, and a tag that names none loses its marks only', () => {
  const id = 'moved'
  i18n.load('es', { [id]: ['<1>fin</1> y <0>principio ', ['who'], '</0> <9>nada</9>'] })
  i18n.activate('es')
  expect(
    renderToStaticMarkup(
      <Placed components={{ 0: <b />, 1: <i /> }} id={id} message="x" values={{ who: 'Ada' }} />,
    ),
  ).toBe('<i>fin</i> y <b>principio Ada</b> nada')
})
