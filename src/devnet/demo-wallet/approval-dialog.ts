const CSS = `
:host { all: initial; pointer-events: auto; }
* { box-sizing: border-box; }
dialog {
  --paper: #fffdf8; --ink: #241c12; --soft: #6a5f50; --line: #e2d8c8; --fill: #7a4b12; --on-fill: #ffffff; --field: #f6f0e5;
  color-scheme: light; pointer-events: auto; user-select: text;
  margin: auto; inset-block-start: 24px; margin-block-start: 0; inset-inline-end: 0; margin-inline-end: 24px;
  width: min(400px, calc(100vw - 32px)); max-height: calc(100dvh - 48px); overflow: auto;
  padding: 20px; border: 1px solid var(--line); border-radius: 12px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; box-shadow: 0 12px 48px rgb(0 0 0 / 0.28);
}
dialog::backdrop { background: rgb(0 0 0 / 0.32); }
.brand { margin: 0 0 4px; color: var(--soft); font-size: 13px; }
h2 { margin: 0 0 4px; font-size: 19px; line-height: 1.3; outline: none; }
p { margin: 0 0 12px; }
dl { margin: 0 0 16px; border-top: 1px solid var(--line); }
dt { padding-top: 8px; color: var(--soft); font-size: 13px; }
dd { margin: 0; padding-bottom: 8px; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
pre { margin: 0 0 16px; padding: 12px; max-height: 220px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; border-radius: 8px; background: var(--field); font: 13px/1.5 ui-monospace, monospace; }
summary { margin: 0 0 12px; color: var(--soft); font-size: 13px; cursor: pointer; }
fieldset { margin: 0 0 16px; padding: 0; border: 0; }
legend { padding: 0; color: var(--soft); font-size: 13px; }
label { display: flex; gap: 12px; align-items: center; margin-top: 8px; padding: 10px 12px; border: 1px solid var(--line); border-radius: 8px; cursor: pointer; }
label:has(:checked) { border-color: var(--fill); background: var(--field); }
input { accent-color: var(--fill); margin: 0; }
strong, small { display: block; overflow-wrap: anywhere; }
small { color: var(--soft); font-size: 13px; }
.buttons { display: flex; gap: 12px; }
button { flex: 1; min-height: 44px; padding: 0 16px; border: 1px solid var(--line); border-radius: 8px; background: transparent; color: inherit; font: inherit; font-weight: 600; cursor: pointer; }
.approve { border-color: var(--fill); background: var(--fill); color: var(--on-fill); }
button:focus-visible, input:focus-visible, pre:focus-visible, summary:focus-visible { outline: 2px solid var(--fill); outline-offset: 2px; }
@media (max-width: 520px) { dialog { inset-block: auto 16px; margin-inline: auto; inset-inline: 0; } }
@media (prefers-color-scheme: dark) {
  dialog { --paper: #211b14; --ink: #f4ece0; --soft: #b9ab97; --line: #43392d; --fill: #e0a85a; --on-fill: #211b14; --field: #2d251b; color-scheme: dark; }
}
@media (forced-colors: active) { button { border-color: ButtonText; } .approve { outline: 2px solid Highlight; } }
`

let adopted: CSSStyleSheet | undefined

/** A constructed style sheet: the page's policy takes no inline style. */
function styles(): CSSStyleSheet {
  if (!adopted) {
    adopted = new CSSStyleSheet()
    adopted.replaceSync(CSS)
  }
  return adopted
}

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#7a4b12"/><path d="M7 11h15a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3H9a3 3 0 0 1-3-3V10a3 3 0 0 1 3-3h12" fill="none" stroke="#fff" stroke-width="2"/><circle cx="20" cy="18" r="2" fill="#fff"/></svg>'

export const ICON = `data:image/svg+xml;base64,${btoa(svg)}` as const
export const NAME = 'Demo wallet'

export type ApprovalRequest = {
  title: string
  /** One sentence that says what approving does. */
  explanation: string
  /** Label and value, in reading order. */
  facts?: readonly (readonly [label: string, value: string])[]
  /** Long text to read before signing. */
  text?: string
  /** Long text for those who want it. */
  folded?: { summary: string; text: string }
  choices?: readonly { label: string; detail: string; value: string }[]
  approve: string
}

/** `undefined`: the person said no. Without choices an approval is the empty string. */
export type ApprovalReply = string | undefined

let last: Promise<unknown> = Promise.resolve()

/** Asks the person; questions wait for each other. */
export function requestApproval(question: ApprovalRequest): Promise<ApprovalReply> {
  const answer = last.then(() => show(question))
  last = answer.catch(() => undefined)
  return answer
}

function show(question: ApprovalRequest): Promise<ApprovalReply> {
  const host = document.createElement('div')
  host.dataset.demoWallet = ''
  const root = host.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = [styles()]
  const dialog = element('dialog')
  dialog.setAttribute('aria-labelledby', 'title')
  dialog.setAttribute('aria-describedby', 'explanation')
  const title = element('h2', { id: 'title', text: question.title })
  title.tabIndex = -1
  const form = element('form')
  form.method = 'dialog'
  form.append(
    element('p', { className: 'brand', text: NAME }),
    title,
    element('p', { id: 'explanation', text: question.explanation }),
  )
  if (question.facts) form.append(facts(question.facts))
  if (question.text !== undefined) form.append(readable(question.text))
  if (question.folded) form.append(folded(question.folded))
  if (question.choices) form.append(choices(question.choices))
  const reject = element('button', { className: 'reject', text: 'Reject' })
  reject.type = 'button'
  const approve = element('button', { className: 'approve', text: question.approve })
  approve.type = 'submit'
  const buttons = element('div', { className: 'buttons' })
  buttons.append(reject, approve)
  form.append(buttons)
  dialog.append(form)
  root.append(dialog)
  // Beside the body, where a page's own dialogs hide and disable what is not theirs.
  document.documentElement.append(host)

  return new Promise((resolve) => {
    const keepToItself = isolate(dialog, () => finish(undefined))
    const finish = (answer: ApprovalReply) => {
      keepToItself()
      dialog.close()
      host.remove()
      resolve(answer)
    }
    reject.addEventListener('click', () => finish(undefined))
    dialog.addEventListener('cancel', () => finish(undefined))
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const chosen = new FormData(form).get('choice')
      finish(typeof chosen === 'string' ? chosen : '')
    })
    dialog.showModal()
    title.focus()
  })
}

/** An extension's window is not part of the page: no click, focus or Escape in here may close or steal from the page's own dialogs. */
function isolate(dialog: HTMLDialogElement, onEscape: () => void): () => void {
  for (const type of [
    'pointerdown',
    'mousedown',
    'touchstart',
    'click',
    'focusin',
    'focusout',
    'wheel',
    'keydown',
    'keyup',
  ] as const) {
    dialog.addEventListener(type, (event) => event.stopPropagation())
  }
  const escape = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopImmediatePropagation()
    onEscape()
  }
  window.addEventListener('keydown', escape, { capture: true })
  return () => window.removeEventListener('keydown', escape, { capture: true })
}

function facts(rows: NonNullable<ApprovalRequest['facts']>): HTMLElement {
  const list = element('dl')
  for (const [label, value] of rows)
    list.append(element('dt', { text: label }), element('dd', { text: value }))
  return list
}

function readable(text: string): HTMLElement {
  const block = element('pre', { text })
  block.tabIndex = 0
  block.setAttribute('role', 'region')
  block.setAttribute('aria-label', 'What is signed')
  return block
}

function folded({ summary, text }: NonNullable<ApprovalRequest['folded']>): HTMLElement {
  const details = element('details')
  details.append(element('summary', { text: summary }), readable(text))
  return details
}

function choices(options: NonNullable<ApprovalRequest['choices']>): HTMLElement {
  const group = element('fieldset')
  group.append(element('legend', { text: 'Account' }))
  for (const [index, { label, detail, value }] of options.entries()) {
    const line = element('label')
    const radio = element('input')
    radio.type = 'radio'
    radio.name = 'choice'
    radio.value = value
    radio.checked = index === 0
    const words = element('span')
    words.append(element('strong', { text: label }), element('small', { text: detail }))
    line.append(radio, words)
    group.append(line)
  }
  return group
}

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { id, className, text }: { id?: string; className?: string; text?: string } = {},
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  if (id !== undefined) made.id = id
  if (className !== undefined) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}
