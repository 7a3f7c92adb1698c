const Layout = ({ children }) => (
  <html lang="en">
    <body>{children}</body>
  </html>
)

export { Layout as default }
