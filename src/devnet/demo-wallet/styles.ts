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
button:focus-visible, input:focus-visible, pre:focus-visible { outline: 2px solid var(--fill); outline-offset: 2px; }
@media (max-width: 520px) { dialog { inset-block: auto 16px; margin-inline: auto; inset-inline: 0; } }
@media (prefers-color-scheme: dark) {
  dialog { --paper: #211b14; --ink: #f4ece0; --soft: #b9ab97; --line: #43392d; --fill: #e0a85a; --on-fill: #211b14; --field: #2d251b; color-scheme: dark; }
}
@media (forced-colors: active) { button { border-color: ButtonText; } .approve { outline: 2px solid Highlight; } }
`

let sheet: CSSStyleSheet | undefined

/** A constructed style sheet: the page's policy takes no inline style. */
export function styles(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(CSS)
  }
  return sheet
}
