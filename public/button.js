// The pay button of a shop: opens a payment link in its own window and tells the page when it is paid. docs/INTEGRATION.md, "Pay button".
;(function () {
  'use strict'
  var script = document.currentScript
  var origin = new URL(script.src).origin
  /** Open windows: each with the link that was clicked and what it told. */
  var open = new Map()
  var timer

  function isPaymentLink(anchor) {
    return anchor.origin === origin && /\/pay\/[^/]+$/.test(anchor.pathname)
  }

  function report(received) {
    console.error(
      'Paydesk button: expected a payment link of ' +
        origin +
        ', received "' +
        received +
        '". Copy the link from the Links page.',
    )
  }

  if (script.dataset.link !== undefined) {
    var anchor = document.createElement('a')
    anchor.href = script.dataset.link
    anchor.dataset.paydesk = ''
    anchor.textContent = script.dataset.text || 'Pay'
    anchor.className = script.dataset.class || ''
    if (!anchor.className)
      Object.assign(anchor.style, {
        display: 'inline-block',
        padding: '12px 20px',
        borderRadius: '8px',
        background: '#1d4ed8',
        color: '#fff',
        font: '600 16px/20px system-ui, sans-serif',
        textDecoration: 'none',
      })
    if (isPaymentLink(anchor)) script.after(anchor)
    else report(script.dataset.link)
  }

  document.addEventListener('click', function (event) {
    var anchor = event.target instanceof Element && event.target.closest('a[data-paydesk]')
    // A person who asks for a new tab gets one.
    if (!anchor || event.defaultPrevented || event.button !== 0) return
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    if (!isPaymentLink(anchor)) return report(anchor.href)
    event.preventDefault()
    // One window for each link: a second one would invite to pay twice.
    for (var [payment, state] of open)
      if (state.anchor === anchor && !payment.closed) return payment.focus()
    var width = 480
    var height = 860
    var left = Math.max(0, screenX + (outerWidth - width) / 2)
    var features = 'popup,width=' + width + ',height=' + height + ',left=' + left
    var opened = window.open(anchor.href, '_blank', features)
    // Blocked: the link still leads there.
    if (!opened) return location.assign(anchor.href)
    open.set(opened, { anchor: anchor })
    timer = timer || setInterval(check, 300)
  })

  addEventListener('message', function (event) {
    var state = event.origin === origin && open.get(event.source)
    var told = event.data
    if (!state || !told || typeof told !== 'object') return
    if (!state.anchor.pathname.endsWith('/pay/' + told.link)) return
    if (told.type === 'paydesk:paid' && !state.paid) {
      var detail = { paymentId: String(told.paymentId), link: String(told.link) }
      var paid = new CustomEvent('paydesk:paid', {
        bubbles: true,
        cancelable: true,
        detail: detail,
      })
      var leaves = state.anchor.dispatchEvent(paid)
      state.paid = { returnTo: leaves ? String(told.returnTo) : undefined }
    }
    if (told.type === 'paydesk:back' && state.paid) event.source.close()
  })

  /** Where the window of a payment that is complete closes, the page goes on to the link's return address. */
  function check() {
    open.forEach(function (state, opened) {
      if (!opened.closed) return
      open.delete(opened)
      var to = state.paid && state.paid.returnTo
      if (to && new URL(to).origin === location.origin) location.assign(to)
      else if (!state.paid)
        state.anchor.dispatchEvent(new CustomEvent('paydesk:closed', { bubbles: true }))
    })
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
})()
